"""What goes beyond the question which protocol and method to use: folders that the core does not import.

Each has its question, answer, document and command; here stand the commands, whose modules are imported when they run.
"""

from __future__ import annotations

COMMANDS = {
    "app": "advisor.extensions.app.command",
    "choose": "advisor.extensions.choose.command",
    "columns": "advisor.extensions.columns.command",
    "rounds": "advisor.extensions.rounds.command",
    "shuffler": "advisor.extensions.trust",
    "fakes": "advisor.extensions.trust",
    "places": "advisor.extensions.places.command",
    "audit": "advisor.extensions.audit.command",
    "explain": "advisor.extensions.code.explain",
    "code": "advisor.extensions.code.command",
    "generate": "advisor.extensions.generate",
    "cite": "advisor.extensions.cite.command",
}
