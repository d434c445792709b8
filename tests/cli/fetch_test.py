#!/usr/bin/python3
"""`eignn fetch` against Python's http.server:  /usr/bin/python3 fetch_test.py PATH_TO_EIGNN

The server's folder stands in for all hosts (--mirror). Archives are made up; sets whose sums the program knows are
served from the folders of EIGNN_DATA where they are at hand.
"""
import functools
import http.server
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile

EIGNN = None  # set from the command line
GEOM_GCN = "graphdml-uiuc-jlu/geom-gcn/f1fc0d14b3b019c562737240d06ec83b07d16a8f"
PPI_FILES = [f"{part}_{file}" for part in ("train", "valid", "test")
             for file in ("graph.json", "feats.npy", "labels.npy", "graph_id.npy")]


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if not self.path.startswith("/slow/"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.send_header("ETag", '"slow"')
        self.end_headers()
        self.wfile.write(b"x" * 1000)
        self.wfile.flush()
        self.server.stop.wait(30)


def geom_gcn_source():
    """A folder of EIGNN_DATA with the published files, or None."""
    for folder in os.environ.get("EIGNN_DATA", "").split(":"):
        if folder and os.path.isdir(os.path.join(folder, "geom_gcn", "splits")):
            return pathlib.Path(folder) / "geom_gcn"
    return None


class Fetch(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="eignn-fetch-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.site = self.folder / "site"
        self.site.mkdir()
        handler = functools.partial(Handler, directory=str(self.site))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.stop = threading.Event()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.stop.set)
        self.mirror = f"http://127.0.0.1:{self.server.server_port}"
        self.environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
        self.environment.update(EIGNN_CACHE=str(self.folder / "cache"), EIGNN_DATA="", EIGNN_MIRROR=self.mirror)

    def put(self, path, content):
        file = self.site / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def put_ppi(self, names=PPI_FILES):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                archive.writestr(name, name * 100)
        self.put("dataset/ppi.zip", packed.getvalue())

    def run_eignn(self, *arguments):
        return subprocess.run([EIGNN, "fetch", *map(str, arguments)], env=self.environment, capture_output=True,
                              text=True, timeout=60)

    def refused(self, code, words, *arguments):
        run = self.run_eignn(*arguments)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertEqual(run.stdout, "")
        errors = [line for line in run.stderr.splitlines() if line.startswith("eignn: error: ")]
        self.assertEqual(len(errors), 1, run.stderr)
        self.assertRegex(errors[0], r"\(.*\); .")
        for word in words:
            self.assertIn(word, errors[0])

    def test_an_archive_is_unpacked_its_sums_recorded_and_checked_later(self):
        self.put_ppi()
        run = self.run_eignn("ppi")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("recorded in its SHA256SUMS", run.stderr)
        home = self.folder / "cache" / "data" / "ppi"
        self.assertEqual(sorted(p.name for p in home.iterdir()), sorted(PPI_FILES + ["SHA256SUMS"]))
        subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=home, check=True)
        again = json.loads(self.run_eignn("ppi", "--json").stdout)["sets"][0]
        self.assertEqual((again["downloaded"], again["files"], again["path"]), (False, 12, str(home)))
        (home / "test_feats.npy").write_text("forged")
        self.refused(1, ["test_feats.npy", "SHA-256"], "ppi")

    def test_the_flags_name_folder_and_mirror(self):
        self.put_ppi()
        self.environment["EIGNN_MIRROR"] = "http://127.0.0.1:9"
        run = self.run_eignn("ppi", "--to", self.folder / "mine", "--mirror", self.mirror + "/", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["sets"][0]["path"], str(self.folder / "mine" / "ppi"))

    def test_a_published_set_comes_with_its_splits(self):
        source = geom_gcn_source()
        if source is None:
            self.skipTest("the data set is in no folder of EIGNN_DATA")
        shutil.copytree(source, self.site / GEOM_GCN)
        run = self.run_eignn("cornell", "texas", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([(s["downloaded"], s["files"]) for s in json.loads(run.stdout)["sets"]], [(True, 12)] * 2)
        home = self.folder / "cache" / "data" / "cornell"
        self.assertEqual(len(list((home / "splits").glob("cornell_split_0.6_0.2_?.npz"))), 10)

    def test_forged_content_is_no_data_set(self):
        self.put(f"{GEOM_GCN}/new_data/cornell/out1_graph_edges.txt", b"a\tb\n0\t1\n")
        self.refused(1, ["SHA-256", "out1_graph_edges.txt"], "cornell")
        self.assertFalse((self.folder / "cache" / "data" / "cornell").exists())

    def test_a_missing_page_is_named(self):
        self.refused(1, ["404", "/dataset/ppi.zip"], "ppi")

    def test_an_archive_that_leads_out_is_refused(self):
        self.put_ppi(PPI_FILES + ["../../evil"])
        self.refused(1, ["evil"], "ppi")
        self.assertEqual([p for p in self.folder.rglob("evil")], [])

    def test_the_list_says_what_is_here(self):
        self.put_ppi()
        self.assertEqual(self.run_eignn("ppi").returncode, 0)
        run = self.run_eignn("--list")
        self.assertEqual(run.returncode, 0, run.stderr)
        here = {line.split()[0] for line in run.stdout.splitlines() if " here " in line}
        self.assertEqual(here, {"ppi"})
        sets = {s["name"]: s for s in json.loads(self.run_eignn("--list", "--json").stdout)["sets"]}
        self.assertIsNone(sets["cornell"]["path"])
        self.assertEqual(sets["ppi"]["path"], str(self.folder / "cache" / "data" / "ppi"))

    def test_a_copy_in_the_users_folder_is_enough(self):
        mine = self.folder / "mine" / "ppi"
        mine.mkdir(parents=True)
        for name in PPI_FILES:
            (mine / name).touch()
        self.environment["EIGNN_DATA"] = str(mine.parent)
        run = self.run_eignn("ppi", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["sets"][0]["path"], str(mine))

    def test_what_was_asked_wrongly_is_said(self):
        self.refused(2, ["cornel", "did you mean cornell?"], "cornel")
        self.refused(2, ["--list"])
        self.refused(2, ["ftp://x", "--mirror"], "ppi", "--mirror", "ftp://x")
        self.refused(2, ["--mirrr"], "ppi", "--mirrr", "x")

    def test_ctrl_c_keeps_what_arrived(self):
        process = subprocess.Popen([EIGNN, "fetch", "ppi", "--mirror", self.mirror + "/slow"], env=self.environment,
                                   stderr=subprocess.PIPE, text=True)
        part = self.folder / "cache" / "data" / "ppi.part" / "ppi.zip.part"
        deadline = time.time() + 30
        while not part.exists() and time.time() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("ppi.part", errors)
        self.assertEqual(part.stat().st_size, 1000)
        self.assertFalse((self.folder / "cache" / "data" / "ppi").exists())


if __name__ == "__main__":
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit("usage: fetch_test.py PATH_TO_EIGNN")
    EIGNN = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
