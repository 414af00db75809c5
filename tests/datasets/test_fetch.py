"""Data sets by name: from the folder, from the cache, or by a download with verified checksum; helpful errors."""

import http.server
import sys
import threading
from functools import partial

import numpy as np
import pytest

from spmld.datasets import Dataset, fetch_dataset, list_datasets, load_dataset, write_dataset
from spmld.datasets.registry import _REGISTRY, DatasetInfo, checksum, find_file

HEAD = "@relation songs\n@attribute pitch numeric\n@attribute sad {0,1}\n@attribute calm {0,1}\n@data\n"
FILES = {
    "songs-train.arff": HEAD + "0.5,1,0\n0.25,0,1\n",
    "songs-test.arff": HEAD + "0.75,1,1\n",
    "songs.xml": '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="sad"/><label name="calm"/></labels>',
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def songs(tmp_path, monkeypatch):
    """A small entry of the registry, whose files are served on this machine until `stop` is called."""
    served = tmp_path / "served"
    served.mkdir()
    for name, text in FILES.items():
        (served / name).write_text(text)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(served)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    root = f"http://127.0.0.1:{server.server_address[1]}/"
    files = {root + name: checksum(served / name) for name in FILES}
    info = DatasetInfo("songs", "songs with moods", 2, 1, 1, 2, files, "none", "nobody")
    monkeypatch.setitem(_REGISTRY, "songs", info)
    monkeypatch.setenv("SPMLD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("SPMLD_DATA", raising=False)
    stopped = []

    def stop():
        if not stopped:
            stopped.append(True)
            server.shutdown()
            server.server_close()
            thread.join()

    yield info, served, stop
    stop()


def test_a_download_is_verified_read_and_cached(songs, tmp_path):
    _, _, stop = songs
    data = fetch_dataset("Songs")
    np.testing.assert_array_equal(data.X_train, [[0.5], [0.25]])
    np.testing.assert_array_equal(data.Y_test, [[1, 1]])
    assert (data.name, data.label_names) == ("songs", ["sad", "calm"])
    stop()
    np.testing.assert_array_equal(fetch_dataset("songs").X, data.X)
    assert sorted(path.name for path in (tmp_path / "cache" / "songs").iterdir()) == sorted(FILES)
    assert load_dataset("songs").name == "songs"
    with pytest.raises(ValueError, match="accepts no options, got labels"):
        load_dataset("songs", labels=["sad"])


def test_the_folder_has_priority_over_cache_and_network(songs, tmp_path, monkeypatch):
    _, served, stop = songs
    stop()
    monkeypatch.setenv("SPMLD_DATA", str(tmp_path))
    assert len(fetch_dataset("songs").Y) == 3
    assert not (tmp_path / "cache").exists()
    (served / "songs-test.arff").write_text(FILES["songs-test.arff"].replace("0.75", "0.5"))
    with pytest.warns(UserWarning, match=r"songs-test\.arff differs from the file in the registry"):
        assert fetch_dataset("songs").X_test[0, 0] == 0.5
    (served / "songs-test.arff").write_text(FILES["songs-test.arff"] + "0.5,1,0\n")
    with (
        pytest.warns(UserWarning, match="differs"),
        pytest.raises(ValueError, match=r"songs should have 2 training and 1 test .*, got 2 training and 2 test"),
    ):
        fetch_dataset("songs")


def test_without_network_the_error_says_what_to_do(songs, tmp_path):
    info, _, stop = songs
    stop()
    with pytest.raises(ConnectionError) as caught:
        fetch_dataset("songs")
    for part in (
        "songs-train.arff",
        "SPMLD_DATA",
        "not set",
        str(tmp_path / "cache"),
        *info.files,
    ):
        assert part in str(caught.value)


def test_a_file_missing_on_the_server_raises(songs):
    _, served, _ = songs
    (served / "songs.xml").unlink()
    with pytest.raises(ConnectionError, match=r"songs\.xml .*the server answered 404"):
        fetch_dataset("songs")


def test_a_download_with_a_different_checksum_raises_and_is_not_cached(songs, tmp_path):
    _, served, _ = songs
    (served / "songs.xml").write_text("something else")
    with pytest.raises(ValueError, match=r"songs\.xml is not the file in the registry"):
        fetch_dataset("songs")
    assert not (tmp_path / "cache" / "songs" / "songs.xml").exists()


def test_unknown_names_and_files_raise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"unknown data set 'songs'; available: emotions, .*corel5k-mulan"):
        fetch_dataset("songs")
    with pytest.raises(FileNotFoundError, match="songs is neither an existing file nor a data set"):
        load_dataset("songs")
    with pytest.raises(FileNotFoundError, match=r"file songs\.csv does not exist"):
        load_dataset("songs.csv")
    with pytest.raises(ValueError, match="is a folder"):
        load_dataset(tmp_path, format="csv")


def test_a_file_has_priority_over_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_dataset(Dataset([[1.0]], [[1]]), "emotions", format="csv")
    assert load_dataset("emotions", format="csv").Y.shape == (1, 1)


def test_a_missing_dependency_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "file.csv").write_text("x,y\n1,1\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pandas is not installed; install it with: pip install "spmld\[data\]"'):
        load_dataset(tmp_path / "file.csv")


def test_entries_of_the_registry_have_sources_checksums_and_licenses():
    infos = list_datasets()
    assert len({info.name for info in infos}) == len(infos)
    for info in infos:
        assert info.license
        assert info.citation
        assert all(address.startswith("https://") for address in info.files)
        assert all(len(bytes.fromhex(sha256)) == 32 for sha256 in info.files.values())


def test_files_are_found_in_subfolders(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "Some.arff").write_bytes(b"")
    monkeypatch.setenv("SPMLD_DATA", str(tmp_path))
    assert find_file("some.ARFF") == tmp_path / "deep" / "Some.arff"
    with pytest.raises(FileNotFoundError, match=r"cannot find other\.arff in SPMLD_DATA="):
        find_file("other.arff")
    monkeypatch.delenv("SPMLD_DATA")
    with pytest.raises(FileNotFoundError, match="set the environment variable SPMLD_DATA"):
        find_file("some.arff")
