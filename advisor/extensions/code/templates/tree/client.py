# {% extends "client.py" %}
"""Binary trees (tree, tree_half): a client of tree for twelve values at epsilon = 1."""

from draws import below, chance

K = 12
NODES = [12, 6, 3, 2]
OWN = [0, 6496711356782678535, 10627480729818066791, 13485650502877570762]
OTHER = 4961093570831980854
LEAVES_FIRST = 0


# {% block own %}
def randomised(value, entropy):
    """Return a height and a bit for each node there, then zeros: K + 1 numbers."""
    # The height does not depend on the value.
    height = 0 if LEAVES_FIRST and chance(2**63, entropy) else below(len(NODES), entropy)
    node, nodes = value >> height, NODES[height]
    if OWN[height]:  # few nodes: one of them is reported
        if not chance(OWN[height], entropy):
            other = below(nodes - 1, entropy)
            node = other + (other >= node)
        bits = [int(at == node) for at in range(nodes)]
    else:  # many: each bit is drawn by itself
        bits = [int(chance(2**63 if at == node else OTHER, entropy)) for at in range(nodes)]
    return [height, *bits, *[0] * (K - nodes)]


def line(numbers):
    """Return a report as a line of text: height, and the node, or a character 0 or 1 for each node."""
    height, bits = numbers[0], numbers[1 : 1 + NODES[numbers[0]]]
    return f"{height},{bits.index(1) if OWN[height] else ''.join(map(str, bits))}"


# {% endblock %}
