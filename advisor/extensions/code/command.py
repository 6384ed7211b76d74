"""``ldp-advise code``: a client, a server and test vectors for a pair."""

from __future__ import annotations

from typing import Annotated

from advisor.answers.clients.collection import CodedCollection
from advisor.cli.options import Only, argument
from advisor.cli.run import Job, WholeOutput, run, silence
from advisor.extensions.code.answer import Deployed, check_directory, written
from advisor.extensions.code.document import code_document
from advisor.extensions.code.question import Answers, Deployment, Pair, Wanted
from advisor.question.settings import Terms

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
    request = Wanted(question, pair, domain, deployment, answer)
    directory = deployment.to or ""
    check_directory(directory, force=output.force)
    inputs = (answer, deployment.labels)

    def write(collection: CodedCollection, progress: None) -> Deployed:
        del progress
        return written(collection, directory, force=output.force, inputs=inputs)

    run(Job(request.read, write, code_document, silence, inputs=inputs, reading="reading"), output)
