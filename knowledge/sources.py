"""The publications that members name as their source, one entry each, and this project's own, as BibTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from simulator._version import __version__

OWN = "this project"  # what members of our own name as their source


@dataclass(frozen=True)
class Source:
    """One publication."""

    key: str  # of the BibTeX entry
    kind: str  # type of the BibTeX entry
    authors: tuple[str, ...]  # given name first, accents as BibTeX writes them
    title: str
    venue: tuple[str, str]  # name of a field, and its value
    year: int  # 0 where it is not known
    # volume, number, pages: what of them is known
    more: tuple[tuple[str, str], ...] = ()

    @property
    def bibtex(self) -> str:
        """The entry."""
        fields = {"author": " and ".join(self.authors), "title": f"{{{self.title}}}"}
        fields |= dict([self.venue]) | {"year": str(self.year or "")} | dict(self.more)
        lines = (f"  {name} = {{{value}}}" for name, value in fields.items() if value)
        return f"@{self.kind}{{{self.key},\n" + ",\n".join(lines) + "\n}\n"


def _talk(key: str, authors: tuple[str, ...], title: str, where: str, year: int, **more: str) -> Source:
    return Source(key, "inproceedings", authors, title, ("booktitle", where), year, tuple(more.items()))


def _article(key: str, authors: tuple[str, ...], title: str, where: str, year: int, **more: str) -> Source:
    return Source(key, "article", authors, title, ("journal", where), year, tuple(more.items()))


_WANG = ("Tianhao Wang", r"Milan Lopuha{\"a}-Zwakenberg", "Zitao Li", r"Boris {\v{S}}kori{\'c}", "Ninghui Li")

SOURCES: Final = MappingProxyType({
    "Kairouz, Bonawitz, Ramage, ICML 2016": _talk(
        "kairouz2016discrete", ("Peter Kairouz", "Keith Bonawitz", "Daniel Ramage"),
        "Discrete Distribution Estimation under Local Privacy",
        "Proceedings of the 33rd International Conference on Machine Learning (ICML)", 2016, pages="2436--2444",
    ),
    "Erlingsson, Pihur, Korolova, CCS 2014": _talk(
        "erlingsson2014rappor", (r"{\'U}lfar Erlingsson", "Vasyl Pihur", "Aleksandra Korolova"),
        "RAPPOR: Randomized Aggregatable Privacy-Preserving Ordinal Response",
        "Proceedings of the 21st ACM Conference on Computer and Communications Security (CCS)", 2014,
    ),
    "Wang, Blocki, Li, Jha, USENIX Security 2017": _talk(
        "wang2017locally", ("Tianhao Wang", "Jeremiah Blocki", "Ninghui Li", "Somesh Jha"),
        "Locally Differentially Private Protocols for Frequency Estimation",
        "26th USENIX Security Symposium", 2017,
    ),
    "Bassily, Smith, STOC 2015": _talk(
        "bassily2015local", ("Raef Bassily", "Adam Smith"),
        "Local, Private, Efficient Protocols for Succinct Histograms",
        "Proceedings of the 47th Annual ACM Symposium on Theory of Computing (STOC)", 2015, pages="127--135",
    ),
    "Ye, Barg, IEEE Trans. Inf. Theory 2018": _article(
        "ye2018optimal", ("Min Ye", "Alexander Barg"),
        "Optimal Schemes for Discrete Distribution Estimation Under Locally Differential Privacy",
        "IEEE Transactions on Information Theory", 2018, volume="64", number="8", pages="5662--5676",
    ),
    "Acharya, Sun, Zhang, AISTATS 2019": _talk(
        "acharya2019hadamard", ("Jayadev Acharya", "Ziteng Sun", "Huanyu Zhang"),
        "Hadamard Response: Estimating Distributions Privately, Efficiently, and with Little Communication",
        "The 22nd International Conference on Artificial Intelligence and Statistics (AISTATS)", 2019,
        pages="1120--1129",
    ),
    "Feldman, Nelson, Nguyen, Talwar, ICML 2022": _talk(
        "feldman2022private", ("Vitaly Feldman", "Jelani Nelson", "Huy Nguyen", "Kunal Talwar"),
        "Private Frequency Estimation via Projective Geometry",
        "Proceedings of the 39th International Conference on Machine Learning (ICML)", 2022, pages="6418--6433",
    ),
    "Cormode, Kulkarni, Srivastava, VLDB 2019": _article(
        "cormode2019answering", ("Graham Cormode", "Tejas Kulkarni", "Divesh Srivastava"),
        "Answering Range Queries Under Local Differential Privacy",
        "Proceedings of the VLDB Endowment", 2019, volume="12", number="10", pages="1126--1138",
    ),
    "Hay et al., VLDB 2010": _article(
        "hay2010boosting", ("Michael Hay", "Vibhor Rastogi", "Gerome Miklau", "Dan Suciu"),
        "Boosting the Accuracy of Differentially Private Histograms Through Consistency",
        "Proceedings of the VLDB Endowment", 2010, volume="3", number="1-2", pages="1021--1032",
    ),
    "Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić, SIGMOD 2020": _talk(
        "li2020estimating",
        ("Zitao Li", "Tianhao Wang", r"Milan Lopuha{\"a}-Zwakenberg", "Ninghui Li", r"Boris {\v{S}}kori{\'c}"),
        "Estimating Numerical Distributions under Local Differential Privacy",
        "Proceedings of the 2020 ACM SIGMOD International Conference on Management of Data", 2020, pages="621--635",
    ),
    "Wang et al., NDSS 2020": _talk(
        "wang2020locally", _WANG, "Locally Differentially Private Frequency Estimation with Consistency",
        "Network and Distributed System Security Symposium (NDSS)", 2020,
    ),
    "Cao, Jia, Gong, USENIX Security 2021": _talk(
        "cao2021data", ("Xiaoyu Cao", "Jinyuan Jia", "Neil Zhenqiang Gong"),
        "Data Poisoning Attacks to Local Differential Privacy Protocols",
        "30th USENIX Security Symposium", 2021,
    ),
    "Sun et al., ICDE 2024": _talk(
        "sun2024ldprecover",
        ("Xinyue Sun", "Qingqing Ye", "Haibo Hu", "Jiawei Duan", "Tianyu Wo", "Jie Xu", "Renyu Yang"),
        "{LDPRecover}: Recovering Frequencies from Poisoning Attacks against Local Differential Privacy",
        "IEEE 40th International Conference on Data Engineering (ICDE)", 2024,
    ),
    "Jia, Gong, INFOCOM 2019": _talk(
        "jia2019calibrate", ("Jinyuan Jia", "Neil Zhenqiang Gong"),
        "Calibrate: Frequency Estimation and Heavy Hitter Identification with Local Differential Privacy via "
        "Incorporating Prior Knowledge",
        "IEEE Conference on Computer Communications (INFOCOM)", 2019,
    ),
    "Agrawal, Aggarwal, PODS 2001": _talk(
        "agrawal2001design", ("Dakshi Agrawal", "Charu C. Aggarwal"),
        "On the Design and Quantification of Privacy Preserving Data Mining Algorithms",
        "Proceedings of the 20th ACM SIGMOD-SIGACT-SIGART Symposium on Principles of Database Systems (PODS)", 2001,
    ),
    "Pinzon et al., AAAI 2026": _talk(
        "pinzon2026estimating",
        (r"Carlos Antonio Pinz{\'o}n", "Ehab ElSalamouny", "Lucas Massot", "Alexis Miller",
         r"H{\'e}ber Hwang Arcolezi", "Catuscia Palamidessi"),
        "Estimating the True Distribution of Data Collected with Randomized Response",
        "AAAI Conference on Artificial Intelligence", 2026, eprint="2601.08603", archiveprefix="arXiv",
    ),
    "Jiang, Zhang, Ann. Statist. 2009": _article(
        "jiang2009general", ("Wenhua Jiang", "Cun-Hui Zhang"),
        "General Maximum Likelihood Empirical Bayes Estimation of Normal Means",
        "The Annals of Statistics", 2009, volume="37", number="4", pages="1647--1684",
    ),
    "Johnstone, Silverman, Ann. Statist. 2005": _article(
        "johnstone2005empirical", ("Iain M. Johnstone", "Bernard W. Silverman"),
        "Empirical Bayes Selection of Wavelet Thresholds", "The Annals of Statistics", 2005,
    ),
    OWN: Source(
        "ldp_advise", "software", ("{The ldp-advise contributors}",),
        "ldp-advise: which local differential privacy protocol and post-processing method to use",
        ("version", __version__), 2026,
    ),
})  # fmt: skip
"""By what members name as their reference."""


def sources_of(reference: str) -> tuple[Source, ...]:
    """Return the publications that a reference names, with semicolons between them.

    One that is not known here, as members of other packages have, becomes an entry with the reference as its note.
    """
    named = [part for part in map(str.strip, reference.split(";")) if part]
    return tuple(SOURCES[part] if part in SOURCES else _noted(part) for part in named)


def _noted(reference: str) -> Source:
    words = re.findall(r"[a-z0-9]+", reference.lower())
    year = next((int(word) for word in words if re.fullmatch(r"(19|20)\d\d", word)), 0)
    return Source("_".join(words[:3]) or "source", "misc", (), reference, ("howpublished", ""), year)
