#!/usr/bin/python3
"""`eignn solve` against NumPy:  /usr/bin/python3 solve_test.py PATH_TO_EIGNN

An outsider's check. Graphs, features, weights and cotangents are written with NumPy and plain text; the answers are
compared with a dense Kronecker solve and with the adjoint formulas, and those with central differences. Formulas keep
the paper's column form (X is m x n, node j is column j); the files have one row per node, so Z.npy is Z transposed.

    Z = gamma g Z S + X,  g = F'F / (nu + epsilon),  nu = |F'F|_F        (I - gamma S' (x) g) vec Z = vec X
"""
import decimal
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np

EIGNN = None  # set from the command line
SYMMETRIC_ONLY = ["spectral", "krylov", "published"]
ANY_GRAPH = ["direct", "sparse", "deflated", "picard", "auto"]
ALL_SOLVERS = SYMMETRIC_ONLY + ANY_GRAPH
JSON_KEYS = {"n", "m", "arcs", "solver", "dtype", "gamma", "epsilon", "residual", "adjoint_residual", "iterations",
             "seconds"}
ROUND_OFF = 2.0**-53
TOLERANCE = {"float64": 1e-10, "float32": 1e-4}


# The reference ------------------------------------------------------------------------------------------------------


def propagation(n, arcs, direction="undirected", normalise="sym", self_loops=True, weights=None):
    """S as a dense matrix, straight from the definition."""
    A = np.zeros((n, n))
    for k, (i, j) in enumerate(arcs):
        A[i, j] = 1.0 if weights is None else A[i, j] + weights[k]  # without weights duplicates count once
    if weights is not None:
        A /= A[A > 0].mean()
    if direction == "undirected":
        A = np.maximum(A, A.T)
    elif direction == "out":
        A = A.T.copy()
    if self_loops:
        A += np.eye(n)  # a loop in the data is one more

    def inverse_root(degrees):
        return np.array([1.0 / np.sqrt(d) if d > 0 else 0.0 for d in degrees])

    left = inverse_root(A.sum(axis=1))
    right = left if normalise == "sym" else inverse_root(A.sum(axis=0))
    return left[:, None] * A * right[None, :]


def contraction(F, epsilon):
    M = F.T @ F
    nu = np.linalg.norm(M)
    return M / (nu + epsilon), M, nu


def kronecker_solve(S, g, gamma, X):
    """Z of Z = gamma g Z S + X, all columns as one dense system."""
    m, n = X.shape
    system = np.eye(m * n) - gamma * np.kron(S.T, g)
    return np.linalg.solve(system, X.flatten(order="F")).reshape((m, n), order="F")


def reference(S, F, X, Y, gamma, epsilon):
    """Z, dF, dX in the column form."""
    g, M, nu = contraction(F, epsilon)
    Z = kronecker_solve(S, g, gamma, X)
    W = kronecker_solve(S.T, g, gamma, Y)  # W = gamma g W S' + Y
    if not F.any():
        return Z, np.zeros_like(F), W
    R = W @ S.T @ Z.T
    if F.size == 1:  # the bracket below would cancel: R + R - 2 R nu/(nu + epsilon)
        return Z, gamma / (nu + epsilon) * F * 2 * R * epsilon / (nu + epsilon), W
    dF = gamma / (nu + epsilon) * F @ (R + R.T - 2 * np.sum(M * R) / (nu**2 + epsilon * nu) * M)
    return Z, dF, W


def relative(ours, theirs):
    return np.linalg.norm(ours - theirs) / max(np.linalg.norm(theirs), 1e-300)


# The files ----------------------------------------------------------------------------------------------------------


def write_npz(path, n, arcs, compressed=False):
    edges = np.array(arcs, dtype=np.int64).reshape(-1, 2)
    save = np.savez_compressed if compressed else np.savez
    save(path, edges=edges, note=np.arange(3.0))  # other members are ignored


def write_matrix_market(path, n, arcs, symmetric=False):
    """1-based; symmetric files hold the lower triangle only."""
    if symmetric:
        arcs = [(max(a), min(a)) for a in arcs]
    with open(path, "w", encoding="ascii") as f:
        f.write("%%%%MatrixMarket matrix coordinate real %s\n" % ("symmetric" if symmetric else "general"))
        f.write("%% written by hand\n%d %d %d\n" % (n, n, len(arcs)))
        for k, (i, j) in enumerate(arcs):
            f.write("%d %d %g\n" % (i + 1, j + 1, 0.25 * k - 1.5))  # the values are a pattern only


def write_weighted(path, n, arcs, weights):
    """In the format that the ending says, with every digit of the weights."""
    if path.endswith(".npz"):
        np.savez(path, edges=np.array(arcs), edge_weight=np.array(weights))
        return
    one, header = (1, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n" % (n, n, len(arcs))) \
        if path.endswith(".mtx") else (0, "source target weight\n")
    with open(path, "w", encoding="ascii") as f:
        f.write(header)
        for (i, j), w in zip(arcs, weights):
            f.write("%d %d %r\n" % (i + one, j + one, float(w)))


def write_edges(path, n, arcs):
    """0-based, every separator and both kinds of comment."""
    with open(path, "w", encoding="ascii") as f:
        f.write("# an edge list\n% with two kinds of comment\n\n")
        for k, (i, j) in enumerate(arcs):
            f.write("%d%s%d\n" % (i, [" ", "\t", ",", ", ", "  "][k % 5], j))


WRITERS = {
    "npz": ("g.npz", lambda p, n, a: write_npz(p, n, a)),
    "npz-compressed": ("gc.npz", lambda p, n, a: write_npz(p, n, a, compressed=True)),
    "mtx": ("g.mtx", lambda p, n, a: write_matrix_market(p, n, a)),
    "mtx-symmetric": ("gs.mtx", lambda p, n, a: write_matrix_market(p, n, a, symmetric=True)),
    "edges": ("g.edges", write_edges),
}


def random_arcs(rng, n, count):
    """Arcs between the first n - 1 nodes (the last stays isolated), with a loop and a duplicate among them."""
    arcs = [tuple(int(v) for v in rng.integers(0, n - 1, size=2)) for _ in range(count)]
    return arcs + [(2, 2), arcs[0], (1, 0), (1, 0), (0, 1)]


class SolveTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="eignn-solve-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.rng = np.random.default_rng(20210)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_eignn(self, *arguments):
        environment = dict(os.environ, EIGNN_CACHE=self.path("cache"))
        return subprocess.run([EIGNN, "solve", *[str(a) for a in arguments]], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, env=environment)

    def one_object(self, done):
        """The one JSON object on standard output."""
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)  # fails where anything stands before or after the object
        self.assertIsInstance(result, dict)
        return result

    def assert_one_line_error(self, done, code, *words):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"^eignn: error: .+ \(.+\); .+")
        for word in words:
            self.assertIn(word, lines[0])

    def load(self, name, dtype, shape):
        """A written .npy: the computing type, C order, the shape that the contract fixes."""
        with open(self.path(name), "rb") as f:
            version = np.lib.format.read_magic(f)
            self.assertEqual(version, (1, 0))
            header_shape, fortran, header_type = np.lib.format.read_array_header_1_0(f)
        self.assertEqual(header_shape, shape)
        self.assertFalse(fortran, name + " is not in C order")
        self.assertEqual(header_type, np.dtype(dtype))
        return np.load(self.path(name))

    def check(self, n, arcs, F, solvers, X=None, Y=None, graph="npz", gamma=0.8, epsilon=1e-12, direction="undirected",
              normalise="sym", self_loops=True, input_dtype="float64", dtype="float64", order="C", extra=(),
              check_residual=True, weights=None, source="own"):
        """Solves with every solver (two at a time) and compares Z, dF, dX with the reference."""
        m = F.shape[0]
        X = self.rng.standard_normal((n, m)) if X is None else X
        Y = self.rng.standard_normal((n, m)) if Y is None else Y
        name, write = WRITERS[graph]
        if weights is None:
            write(self.path(name), n, arcs)
        else:
            write_weighted(self.path(name), n, arcs, weights)
            extra = (*extra, "--edge-weights", "use")
        F, X, Y = (np.asarray(a, dtype=input_dtype, order=order) for a in (F, X, Y))
        for file, array in (("F.npy", F), ("X.npy", X), ("Y.npy", Y)):
            np.save(self.path(file), array)
        S = propagation(n, arcs if graph != "mtx-symmetric" else arcs + [(j, i) for i, j in arcs], direction, normalise,
                        self_loops, weights)
        P = S if source == "neighbours" else np.eye(n)
        Z_ref, dF_ref, W_ref = reference(S, F.astype(float), X.T.astype(float) @ P, Y.T.astype(float), gamma, epsilon)
        dX_ref = W_ref @ P.T

        def solve(solver):
            return self.run_eignn("--graph", self.path(name), "--direction", direction, "--normalise", normalise,
                                  "--self-loops", "on" if self_loops else "off", "--features", self.path("X.npy"),
                                  "--weight", self.path("F.npy"), "--gamma", repr(gamma), "--epsilon", repr(epsilon),
                                  "--solver", solver, "--out", self.path("Z-" + solver), "--cotangent",
                                  self.path("Y.npy"), "--grad-weight", self.path("dF-" + solver), "--grad-features",
                                  self.path("dX-" + solver), "--threads", "1", "--source", source, "--json", *extra)

        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(solve, solvers))
        tolerance = TOLERANCE[dtype]
        for solver, done in zip(solvers, results):
            with self.subTest(solver=solver, graph=graph, direction=direction, normalise=normalise, loops=self_loops):
                answer = self.one_object(done)
                self.assertEqual(set(answer) & JSON_KEYS, JSON_KEYS)
                self.assertEqual((answer["n"], answer["m"]), (n, m))
                self.assertEqual((answer["gamma"], answer["epsilon"]), (gamma, epsilon))
                self.assertEqual(answer["dtype"], dtype)
                self.assertIn(answer["solver"], ALL_SOLVERS[:-1])
                if solver != "auto":
                    self.assertEqual(answer["solver"], solver)
                if graph != "mtx-symmetric":
                    weight = np.ones(len(arcs)) if weights is None else weights
                    self.assertEqual(answer["arcs"], len({arc for arc, w in zip(arcs, weight) if w > 0}))
                self.assertIsInstance(answer["iterations"], int)
                self.assertGreaterEqual(answer["seconds"], 0)
                if check_residual:
                    self.assertLessEqual(answer["residual"], tolerance)
                    self.assertLessEqual(answer["adjoint_residual"], tolerance)
                Z = self.load("Z-" + solver, dtype, (n, m)).T
                dF = self.load("dF-" + solver, dtype, (m, m))
                dX = self.load("dX-" + solver, dtype, (n, m)).T
                self.assertLessEqual(relative(Z, Z_ref), tolerance, "Z")
                self.assertLessEqual(relative(dX, dX_ref), tolerance, "dX")
                if F.any():
                    self.assertLessEqual(relative(dF, dF_ref), tolerance, "dF")
                else:
                    self.assertFalse(dF.any(), "dF is not 0 where F = 0")
        return results

    # The formulas themselves ----------------------------------------------------------------------------------------

    def test_adjoint_formulas_agree_with_central_differences(self):
        n, m, gamma, epsilon, h = 7, 4, 0.9, 0.05, 1e-5
        arcs = random_arcs(self.rng, n, 9)
        F, X, Y = (self.rng.standard_normal(s) for s in ((m, m), (m, n), (m, n)))
        for direction, normalise, loops in (("undirected", "sym", True), ("in", "sym", False), ("out", "out-in", True)):
            S = propagation(n, arcs, direction, normalise, loops)
            _, dF, dX = reference(S, F, X, Y, gamma, epsilon)

            def loss(F, X):
                return np.sum(Y * kronecker_solve(S, contraction(F, epsilon)[0], gamma, X))

            for _ in range(4):
                U, V = self.rng.standard_normal((m, m)), self.rng.standard_normal((m, n))
                along_F = (loss(F + h * U, X) - loss(F - h * U, X)) / (2 * h)
                along_X = (loss(F, X + h * V) - loss(F, X - h * V)) / (2 * h)
                self.assertAlmostEqual(along_F, np.sum(dF * U), delta=1e-6 * np.linalg.norm(dF))
                self.assertAlmostEqual(along_X, np.sum(dX * V), delta=1e-6 * np.linalg.norm(dX))

    # Weights --------------------------------------------------------------------------------------------------------

    def weighted(self, n, count, orders):
        """Arcs with loops, duplicates, reverses of another weight and one of weight 0."""
        arcs = random_arcs(self.rng, n, count)
        weights = 10.0**self.rng.uniform(-orders / 2, orders / 2, len(arcs))
        weights[3] = 0
        return arcs, weights

    def test_nodes_that_start_from_their_neighbours(self):
        n, m = 9, 4
        arcs, F = random_arcs(self.rng, n, 20), self.rng.standard_normal((m, m))
        self.check(n, arcs, F, ["spectral", "krylov", *ANY_GRAPH], source="neighbours",
                   self_loops=False)
        self.check(n, arcs, F, ["direct", "sparse", "auto"], source="neighbours", self_loops=False, direction="out",
                   normalise="out-in")
        self.check(n, arcs, F, ["direct"], source="neighbours", weights=self.rng.uniform(0.1, 3, len(arcs)))
        done = self.run_eignn("--graph", self.path("g.npz"), "--features", self.path("X.npy"), "--weight",
                              self.path("F.npy"), "--out", self.path("Z"), "--source", "both")
        self.assert_one_line_error(done, 2, "--source")

    def test_weights_in_every_format(self):
        n, m = 12, 5
        for graph in ("npz", "mtx", "edges"):
            arcs, weights = self.weighted(n, 18, 3)
            self.check(n, arcs, self.rng.standard_normal((m, m)), ALL_SOLVERS, graph=graph,
                       weights=weights)

    def test_weights_over_ten_orders_of_magnitude(self):
        n, m = 12, 5
        arcs, weights = self.weighted(n, 20, 10)
        F = self.rng.standard_normal((m, m))
        self.check(n, arcs, F, ALL_SOLVERS, weights=weights, gamma=1.0)
        self.check(n, arcs, F, ALL_SOLVERS, weights=weights, self_loops=False)
        for direction in ("in", "out"):
            for loops in (True, False):
                self.check(n, arcs, F, ANY_GRAPH, weights=weights, direction=direction,
                           normalise="out-in", self_loops=loops)

    def test_weights_of_directed_graphs(self):
        n, m = 12, 5
        for direction in ("in", "out"):
            for loops in (True, False):
                arcs, weights = self.weighted(n, 20, 2)
                self.check(n, arcs, self.rng.standard_normal((m, m)), ANY_GRAPH, weights=weights,
                           direction=direction, self_loops=loops)

    def test_weights_are_ignored_unless_they_are_asked_for(self):
        n, m = 8, 3
        arcs, weights = self.weighted(n, 10, 2)
        for name, array in (("F.npy", (m, m)), ("X.npy", (n, m))):
            np.save(self.path(name), self.rng.standard_normal(array))
        S = propagation(n, arcs)  # with the arc of weight 0
        F, X = np.load(self.path("F.npy")), np.load(self.path("X.npy")).T
        Z = kronecker_solve(S, contraction(F, 1e-12)[0], 0.8, X)
        for graph, warned in (("g.mtx", False), ("g.npz", True), ("g.edges", True)):
            write_weighted(self.path(graph), n, arcs, weights)
            done = self.run_eignn("--graph", self.path(graph), "--features", self.path("X.npy"), "--weight",
                                  self.path("F.npy"), "--out", self.path("Z.npy"), "--json")
            answer = self.one_object(done)
            self.assertEqual((answer["weighted"], answer["weight_scale"]), (False, 1))
            self.assertEqual("--edge-weights use" in done.stderr, warned, done.stderr)
            self.assertLessEqual(relative(np.load(self.path("Z.npy")).T, Z), 1e-12)

    def test_faulty_weights_name_their_line(self):
        for name, array in (("F.npy", (2, 2)), ("X.npy", (3, 2))):
            np.save(self.path(name), np.ones(array))
        for graph, text, place in (("g.edges", "0 1 1\n\n1 2 -3\n", "g.edges, line 3"),
                                   ("g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 -1\n",
                                    "g.mtx, line 3"),
                                   ("g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 inf\n",
                                    "g.mtx, line 3")):
            with open(self.path(graph), "w", encoding="ascii") as f:
                f.write(text)
            self.assert_one_line_error(
                self.run_eignn("--graph", self.path(graph), "--features", self.path("X.npy"), "--weight",
                               self.path("F.npy"), "--out", self.path("Z.npy"), "--edge-weights", "use"), 1, place)

    # Undirected graphs, every solver --------------------------------------------------------------------------------

    def test_loops_duplicates_and_isolated_nodes(self):
        n, m = 12, 5
        self.check(n, random_arcs(self.rng, n, 18), self.rng.standard_normal((m, m)), ALL_SOLVERS, graph="npz")

    def test_without_self_loops(self):
        n, m = 12, 5
        self.check(n, random_arcs(self.rng, n, 14), self.rng.standard_normal((m, m)), ALL_SOLVERS, graph="mtx",
                   self_loops=False)

    def test_undirected_out_in_equals_sym(self):
        n, m = 9, 4
        self.check(n, random_arcs(self.rng, n, 12), self.rng.standard_normal((m, m)), ALL_SOLVERS, graph="edges",
                   normalise="out-in")

    def test_more_features_than_nodes(self):
        n, m = 6, 14
        self.check(n, random_arcs(self.rng, n, 7), self.rng.standard_normal((m, m)), ALL_SOLVERS,
                   graph="npz-compressed")

    def test_fewer_features_than_nodes_in_several_components(self):
        n, m = 24, 3
        arcs = [(i, i + 1) for i in range(23) if i not in (7, 15, 20)] + [(0, 7), (8, 15)]
        self.check(n, arcs, self.rng.standard_normal((m, m)), ALL_SOLVERS, graph="mtx-symmetric", gamma=0.95)

    def test_zero_weight(self):
        n, m = 8, 3
        self.check(n, random_arcs(self.rng, n, 9), np.zeros((m, m)), ALL_SOLVERS, graph="edges")

    def test_identity_weight(self):
        n, m = 10, 6
        self.check(n, random_arcs(self.rng, n, 15), np.eye(m), ALL_SOLVERS, gamma=1.0, graph="mtx")

    def test_low_rank_weight_with_gamma_one(self):
        n, m = 11, 8
        F = np.diag([1.0, 0.8, 0, 0, 0, 0, 0, 0]) @ np.linalg.qr(self.rng.standard_normal((m, m)))[0]
        self.check(n, random_arcs(self.rng, n, 13), F, ALL_SOLVERS, gamma=1.0)

    def test_epsilon_as_large_as_the_weight(self):
        n, m = 8, 4
        arcs = random_arcs(self.rng, n, 9)
        self.check(n, arcs, self.rng.standard_normal((m, m)), ALL_SOLVERS, epsilon=2.5, graph="edges")
        self.check(n, arcs, 1e-6 * self.rng.standard_normal((m, m)), ["auto"])  # F'F is about the default epsilon

    def test_weights_very_large_and_very_small(self):
        n, m = 8, 4
        arcs = random_arcs(self.rng, n, 9)
        F = self.rng.standard_normal((m, m))
        self.check(n, arcs, 1e6 * F, ["direct", "auto"])
        self.check(n, arcs, 1e-60 * F, ["direct", "auto"])

    def test_single_node(self):
        self.check(1, [], self.rng.standard_normal((3, 3)), ALL_SOLVERS)
        self.check(1, [(0, 0)], np.array([[-1.5]]), ["direct", "auto"], graph="edges", epsilon=0.5)

    def test_single_feature_keeps_the_digits_of_its_weight_gradient(self):
        """m = 1: the bracket of dF cancels down to 2 R epsilon/(nu + epsilon); its digits are wanted all the same."""
        self.check(7, [(0, 1), (1, 2), (3, 4)], np.array([[0.7]]), ["spectral", "direct"], graph="edges")

    def test_single_feature_without_self_loops(self):
        self.check(7, [(0, 1), (1, 2), (3, 4)], np.array([[2.0]]), ALL_SOLVERS, graph="edges", self_loops=False,
                   epsilon=0.5)

    def test_no_edges_at_all(self):
        self.check(5, [], self.rng.standard_normal((3, 3)), ["auto", "spectral", "direct"], graph="mtx")

    # Types and orders -----------------------------------------------------------------------------------------------

    def test_float32_inputs_are_computed_in_float32(self):
        n, m = 12, 5
        arcs = random_arcs(self.rng, n, 18)
        F = self.rng.standard_normal((m, m))
        self.check(n, arcs, F, ALL_SOLVERS, input_dtype="float32", dtype="float32", order="F")

    def test_fortran_order_is_read(self):
        n, m = 9, 4
        self.check(n, random_arcs(self.rng, n, 11), self.rng.standard_normal((m, m)), ["direct", "auto"], order="F")

    def test_dtype_overrides_the_inputs(self):
        n, m = 9, 4
        arcs = random_arcs(self.rng, n, 11)
        F = self.rng.standard_normal((m, m))
        self.check(n, arcs, F, ["direct", "krylov"], input_dtype="float64", dtype="float32",
                   extra=("--dtype", "float32"))
        self.check(n, arcs, F, ["direct", "krylov"], input_dtype="float32", dtype="float64",
                   extra=("--dtype", "float64"))

    def test_one_float64_input_among_float32_gives_float64(self):
        np.savez(self.path("g.npz"), edges=np.array([[0, 1], [1, 2]], dtype=np.int32))
        X = self.rng.standard_normal((3, 2)).astype("float32")
        F = self.rng.standard_normal((2, 2))
        np.save(self.path("X.npy"), X)
        np.save(self.path("F.npy"), F)
        done = self.run_eignn("--graph", self.path("g.npz"), "--features", self.path("X.npy"), "--weight",
                              self.path("F.npy"), "--out", self.path("Z.npy"), "--json")
        answer = self.one_object(done)
        self.assertEqual(answer["dtype"], "float64")
        self.assertIsNone(answer["adjoint_residual"])  # no cotangent was given
        Z = self.load("Z.npy", "float64", (3, 2)).T
        S = propagation(3, [(0, 1), (1, 2)])
        self.assertLessEqual(relative(Z, kronecker_solve(S, contraction(F, 1e-12)[0], 0.8, X.T.astype(float))), 1e-10)

    # Directed graphs ------------------------------------------------------------------------------------------------

    def test_directed_graphs(self):
        n, m = 10, 4
        arcs = random_arcs(self.rng, n, 16)
        F = self.rng.standard_normal((m, m))
        formats = ["npz", "mtx", "edges", "npz-compressed"]
        for k, direction in enumerate(("in", "out")):
            for normalise in ("sym", "out-in"):
                for loops in (True, False):
                    self.check(n, arcs, F, ANY_GRAPH, direction=direction, normalise=normalise, self_loops=loops,
                               graph=formats[(2 * k + (normalise == "sym") + loops) % 4])

    def test_directed_float32(self):
        n, m = 10, 4
        self.check(n, random_arcs(self.rng, n, 16), self.rng.standard_normal((m, m)), ANY_GRAPH, direction="in",
                   input_dtype="float32", dtype="float32")

    def test_symmetric_solvers_refuse_directed_graphs(self):
        write_edges(self.path("g.edges"), 3, [(0, 1), (1, 2)])
        np.save(self.path("X.npy"), np.ones((3, 2)))
        np.save(self.path("F.npy"), np.eye(2))
        for solver in SYMMETRIC_ONLY:
            with self.subTest(solver=solver):
                done = self.run_eignn("--graph", self.path("g.edges"), "--features", self.path("X.npy"), "--weight",
                                      self.path("F.npy"), "--direction", "in", "--solver", solver, "--out",
                                      self.path("Z.npy"), "--json")
                self.assert_one_line_error(done, 2, "direct")
                self.assertFalse(os.path.exists(self.path("Z.npy")))

    # Near the edge --------------------------------------------------------------------------------------------------

    def test_rank_one_weight_with_gamma_one_has_a_small_backward_error(self):
        n, m, gamma = 13, 6, 1.0
        arcs = random_arcs(self.rng, n, 16)
        F = np.outer(self.rng.standard_normal(m), self.rng.standard_normal(m))
        X = self.rng.standard_normal((n, m))
        S = propagation(n, arcs)
        g = contraction(F, 1e-12)[0]
        write_npz(self.path("g.npz"), n, arcs)
        np.save(self.path("F.npy"), F)
        np.save(self.path("X.npy"), X)
        for solver in SYMMETRIC_ONLY + ["direct"]:
            with self.subTest(solver=solver):
                done = self.run_eignn("--graph", self.path("g.npz"), "--features", self.path("X.npy"), "--weight",
                                      self.path("F.npy"), "--gamma", gamma, "--solver", solver, "--out",
                                      self.path("Z.npy"), "--json")
                self.assertEqual(self.one_object(done)["solver"], solver)
                Z = self.load("Z.npy", "float64", (n, m)).T
                self.assertTrue(np.isfinite(Z).all())
                operator = 1 + gamma * np.linalg.norm(g, 2) * np.linalg.norm(S, 2)
                scale = np.linalg.norm(X) + operator * np.linalg.norm(Z)
                self.assertLessEqual(np.linalg.norm(Z - gamma * g @ Z @ S - X.T) / scale, 100 * ROUND_OFF)
                self.assertGreater(np.linalg.norm(Z), 1e8)  # 1 - mu is about epsilon: the answer is large
                os.remove(self.path("Z.npy"))
        done = self.run_eignn("--graph", self.path("g.npz"), "--features", self.path("X.npy"), "--weight",
                              self.path("F.npy"), "--gamma", gamma, "--solver", "picard", "--out", self.path("Z.npy"))
        self.assert_one_line_error(done, 1)
        self.assertFalse(os.path.exists(self.path("Z.npy")))

    # Chains and exponents -------------------------------------------------------------------------------------------

    def test_exponents_beside_ordinary_numbers(self):
        """Z[j] 2^E[j] is the answer for every solver; a row that nothing reaches is zero."""
        n, m = 9, 3
        arcs = [(0, 1), (1, 2), (2, 3), (5, 6), (6, 7)]
        X = self.rng.standard_normal((n, m))
        X[4:] = 0
        F = self.rng.standard_normal((m, m))
        write_edges(self.path("g.edges"), n, arcs)
        np.save(self.path("X.npy"), X)
        np.save(self.path("F.npy"), F)
        Z_ref = kronecker_solve(propagation(n, arcs), contraction(F, 1e-12)[0], 0.8, X.T).T
        for solver in ALL_SOLVERS:
            with self.subTest(solver=solver):
                done = self.run_eignn("--graph", self.path("g.edges"), "--features", self.path("X.npy"), "--weight",
                                      self.path("F.npy"), "--solver", solver, "--out", self.path("Z.npy"),
                                      "--exponents", self.path("E.npy"), "--threads", 1, "--json")
                self.one_object(done)
                E = self.load("E.npy", "int64", (n,))
                Z = np.ldexp(self.load("Z.npy", "float64", (n, m)), E[:, None].astype(int))
                self.assertLessEqual(relative(Z, Z_ref), 1e-10)
                self.assertFalse(Z[4:].any())

    def chain(self, n, gamma, direction, f, dtype="float64", *extra):
        """Writes a chain with the signal at its first node, m = 1; returns the finished process."""
        write_edges(self.path("chain.edges"), n, [(i, i + 1) for i in range(n - 1)])
        X = np.zeros((n, 1), dtype=dtype)
        X[0] = 1
        Y = np.zeros((n, 1), dtype=dtype)
        Y[-1] = 1
        np.save(self.path("X.npy"), X)
        np.save(self.path("Y.npy"), Y)
        np.save(self.path("F.npy"), np.array([[f]], dtype=dtype))
        return self.run_eignn("--graph", self.path("chain.edges"), "--direction", direction, "--features",
                              self.path("X.npy"), "--weight", self.path("F.npy"), "--gamma", repr(gamma), "--out",
                              self.path("Z.npy"), "--json", *extra)

    @staticmethod
    def chain_in_decimal(n, gamma, direction, f, source=0):
        """(I - gamma mu S') z = e_source in 60 digits, the tridiagonal elimination written out."""
        gamma, f, epsilon = decimal.Decimal(gamma), decimal.Decimal(f), decimal.Decimal(1e-12)
        a = gamma * f * f / (f * f + epsilon)
        both = direction == "undirected"
        degree = [decimal.Decimal(1 + (i + 1 < n) + (both and i > 0)) for i in range(n)]
        diagonal = [1 - a / d for d in degree]
        link = [-a / (degree[i] * degree[i + 1]).sqrt() for i in range(n - 1)]  # S between i and i + 1
        right = [decimal.Decimal(int(i == source)) for i in range(n)]
        for i in range(1, n):  # row i holds link[i-1] z[i-1]; undirected rows hold link[i] z[i+1] too
            factor = link[i - 1] / diagonal[i - 1]
            if both:
                diagonal[i] -= factor * link[i - 1]
            right[i] -= factor * right[i - 1]
        z = [decimal.Decimal(0)] * n
        for i in reversed(range(n)):
            above = link[i] * z[i + 1] if both and i + 1 < n else 0
            z[i] = (right[i] - above) / diagonal[i]
        return z

    def worst_entry(self, rows, exponents, exact):
        """The largest relative error of a single entry, in decimal: none of them fits a double."""
        worst = decimal.Decimal(0)
        for value, exponent, truth in zip(rows[:, 0], exponents, exact):
            ours = decimal.Decimal(float(value)) * decimal.Decimal(2)**int(exponent)
            worst = max(worst, abs(ours / truth - 1))
        return worst

    def test_thousand_node_chain_keeps_every_entry(self):
        n, f = 1000, 0.75
        with decimal.localcontext() as context:
            context.prec = 60
            context.Emin, context.Emax = -10**6, 10**6
            for direction in ("undirected", "in"):
                for gamma in (0.8, 0.99, 1.0):
                    exact = self.chain_in_decimal(n, gamma, direction, f)
                    for solver in ("direct", "auto") if direction == "undirected" else ("direct",):
                        with self.subTest(direction=direction, gamma=gamma, solver=solver):
                            done = self.chain(n, gamma, direction, f, "float64", "--exponents", self.path("E.npy"),
                                              "--solver", solver)
                            self.one_object(done)
                            E = self.load("E.npy", "int64", (n,))
                            Z = self.load("Z.npy", "float64", (n, 1))
                            self.assertLessEqual(self.worst_entry(Z, E, exact), 1e-12)

    def test_chain_in_float32_keeps_every_entry(self):
        n, f, gamma = 300, 0.75, 0.8
        with decimal.localcontext() as context:
            context.prec = 60
            exact = self.chain_in_decimal(n, gamma, "undirected", f)
            done = self.chain(n, gamma, "undirected", f, "float32", "--exponents", self.path("E.npy"), "--solver",
                              "direct")
            self.assertEqual(self.one_object(done)["dtype"], "float32")
            Z = self.load("Z.npy", "float32", (n, 1))
            self.assertLessEqual(self.worst_entry(Z, self.load("E.npy", "int64", (n,)), exact), 1e-4)

    def test_gradients_along_the_chain_keep_every_entry(self):
        """A cotangent at the far end: dX is the adjoint chain, from the last node back to the first."""
        n, f, gamma = 1000, 0.75, 0.8
        done = self.chain(n, gamma, "undirected", f, "float64", "--exponents", self.path("E.npy"), "--solver", "direct",
                          "--cotangent", self.path("Y.npy"), "--grad-features", self.path("dX.npy"),
                          "--grad-exponents", self.path("dE.npy"))
        self.one_object(done)
        with decimal.localcontext() as context:
            context.prec = 60
            exact = self.chain_in_decimal(n, gamma, "undirected", f, source=n - 1)
            dX = self.load("dX.npy", "float64", (n, 1))
            self.assertLessEqual(self.worst_entry(dX, self.load("dE.npy", "int64", (n,)), exact), 1e-12)

    def test_chain_that_leaves_the_range_needs_exponents(self):
        for solver in ("direct", "auto"):
            with self.subTest(solver=solver):
                done = self.chain(1000, 0.8, "undirected", 0.75, "float64", "--solver", solver)
                self.assert_one_line_error(done, 1, "--exponents")
                self.assertFalse(os.path.exists(self.path("Z.npy")))

    def test_chain_within_the_range_needs_no_exponents(self):
        n, f, gamma = 1000, 0.75, 1.0
        done = self.chain(n, gamma, "undirected", f, "float64", "--solver", "direct")
        self.one_object(done)
        with decimal.localcontext() as context:
            context.prec = 60
            exact = self.chain_in_decimal(n, gamma, "undirected", f)
            Z = self.load("Z.npy", "float64", (n, 1))
            self.assertLessEqual(self.worst_entry(Z, np.zeros(n, dtype=int), exact), 1e-12)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit("usage: solve_test.py PATH_TO_EIGNN [unittest arguments]")
    EIGNN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
