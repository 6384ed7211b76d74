"""Audits: how much privacy an attacker is shown to take from reports, with confidence.

Arcolezi, Gambs, "Revealing the true cost of locally differentially private protocols: an auditing perspective", 2024.
"""

from __future__ import annotations

from simulator.audit.client import REPORTS, ClientError, audit_client, audit_reports
from simulator.audit.run import (
    ALPHA,
    ATTACKS,
    LIKELIHOOD,
    TRIALS,
    Audit,
    ceiling,
    clopper_pearson,
    hashing_subject,
    protocol_subject,
    rounds_subject,
    run_audit,
)
from simulator.audit.several import attribute_subjects, bit_flips_subject, fresh_subject, memoised_subject

__all__ = [
    "ALPHA",
    "ATTACKS",
    "LIKELIHOOD",
    "REPORTS",
    "TRIALS",
    "Audit",
    "ClientError",
    "attribute_subjects",
    "audit_client",
    "audit_reports",
    "bit_flips_subject",
    "ceiling",
    "clopper_pearson",
    "fresh_subject",
    "hashing_subject",
    "memoised_subject",
    "protocol_subject",
    "rounds_subject",
    "run_audit",
]
