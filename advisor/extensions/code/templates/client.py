"""Client: randomises one answer on the user's device.

{{ collection }}.
{{ rests_on }}The promise, and what it does not cover, is in README.md. No dependency; all randomness is from `secrets`.
Written by ldp-advise.
"""

# {% if collection.protocol == "planar_laplace" %}
import math
import secrets  # {%- else %}
import secrets  # {%- endif +%}

K = {{collection.k}}  # possible answers
# {% set within = " " ~ collection.cells.promise if collection.cells.grid else "" %}
EPSILON = {{collection.parameters.epsilon}}  # what one report may spend{{ within }}
# {% if collection.labels %}
LABELS = {{collection.answers}}
# {% endif %}
{{constants}}


def report(answer, entropy=secrets.token_bytes):
    """Return the line to send for an answer: the only thing that may leave the device.

    entropy: returns so many random bytes. Leave it out: other sources are for tests alone.
    """
    return line(randomised(number_of(answer), entropy))


def number_of(answer):
    """Return the number of an answer; ValueError for what is no answer."""
    # {% if collection.labels %}
    if answer not in LABELS:
        raise ValueError(f"an answer is one of the {K} labels")
    return LABELS.index(answer)
    # {% elif collection.cells.centre %}
    return cell_of(*answer)
    # {% else %}
    if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < K:
        raise ValueError(f"an answer is a whole number from 0 to {K - 1}")
    return answer
    # {% endif %}


# {% include "draws.py" %}


# {% block own %}
# {% endblock %}
def audited(value, k, epsilon):
    """Return the report of a value as `ldp-advise audit` reads it; nothing else needs this."""
    if (k, epsilon) != (K, EPSILON):
        raise ValueError(f"this client was made for k = {K} and epsilon = {EPSILON}")
    # {% if collection.protocol == "she" %}
    return [cell / GRID for cell in randomised(value, secrets.token_bytes)]
    # {% else %}
    return randomised(value, secrets.token_bytes)
    # {% endif %}
