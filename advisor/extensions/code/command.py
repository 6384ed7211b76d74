"""``ldp-advise code``: a client, a server and test vectors for a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from advisor.cli.arguments import argument
from advisor.cli.options import Only
from advisor.cli.run import Job, WholeOutput, run, silence
from advisor.errors import InputError, reason
from advisor.extensions.code.answer import Deployed, check_directory, files_of
from advisor.extensions.code.document import code_document
from advisor.extensions.code.question import Answers, Deployment, Pair, Wanted
from advisor.outputs import Outputs
from advisor.question.settings import Terms
from knowledge.recipes import Collection

Answer = Annotated[str | None, argument("ANSWER", "an answer saved with --format json: its first pair is written")]


def code_command(
    *,
    answer: Answer = None,
    pair: Pair,
    domain: Annotated[Answers, Only("k")],
    question: Annotated[Terms, Only("epsilon")],
    deployment: Deployment,
    output: WholeOutput,
) -> None:
    """Write clients, a server and test vectors for a pair.

    A pair is a protocol and a post-processing method. The clients (Python, JavaScript) use secure randomness and exact
    probabilities, and depend on nothing. README.md in the directory states what is promised to users, and what is not.

    Examples: ldp-advise code --protocol olh --method eb_ns --eps 1 --k 256 --to collection
              ldp-advise code answer.json --labels browsers.txt --to collection
    """
    wanted = Wanted(question, pair, domain, deployment, answer)
    directory = deployment.to or ""
    check_directory(directory, force=output.force)
    inputs = (answer, deployment.labels)

    def write(collection: Collection, progress: None) -> Deployed:
        del progress
        return written(collection, directory, force=output.force, inputs=[name for name in inputs if name is not None])

    run(Job(wanted.read, write, code_document, silence, inputs=inputs, reading="reading"), output)


def written(collection: Collection, directory: str, *, force: bool, inputs: list[str]) -> Deployed:
    """Write the files of a collection; each is whole or not there.

    Raises InputError if the directory or a file cannot be written.
    """
    files = files_of(collection)
    try:
        Path(directory).mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"--to {directory}: cannot be written ({reason(error)})") from None
    outputs = Outputs(force=force, inputs=inputs)
    targets = {name: outputs.add("--to", str(Path(directory, name))) for name in files}
    for name, target in targets.items():
        if target is not None:
            target.write_text(files[name])
    return Deployed(collection, directory, {name: len(text.encode()) for name, text in files.items()})
