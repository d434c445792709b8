"""eignn.equilibrium against a dense solve, central differences and its own definition."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
import torch

import eignn
from conftest import dense_equilibrium, dense_S

SOLVERS = [name for name in eignn.solver_names() if name != "published"]


def problem(n=5, m=3, dtype=torch.float64):
    x = torch.randn(n, m, dtype=dtype, requires_grad=True)
    F = torch.randn(m, m, dtype=dtype, requires_grad=True)
    return x, F


@pytest.mark.parametrize("source", ["own", "neighbours"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_agrees_with_a_dense_solve(path, solver, source):
    x, F = problem()
    Z = eignn.equilibrium(x, path, F, gamma=0.9, source=source, solver=solver)
    S = dense_S(5, *path.tolist())
    expected = dense_equilibrium(x.detach().numpy(), S, F.detach().numpy(), 0.9, source)
    np.testing.assert_allclose(Z.detach().numpy(), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("source", ["own", "neighbours"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_gradcheck(path, solver, source):
    x, F = problem()
    assert torch.autograd.gradcheck(lambda x, F: eignn.equilibrium(x, path, F, source=source, solver=solver), (x, F), atol=1e-6)


def test_gradcheck_at_an_index_and_with_one_input_fixed(path):
    x, F = problem()
    index = torch.tensor([3, 0])
    assert torch.autograd.gradcheck(lambda x, F: eignn.equilibrium(x, path, F, index=index), (x, F))
    assert torch.autograd.gradcheck(lambda x: eignn.equilibrium(x, path, F.detach()), (x,))
    assert torch.autograd.gradcheck(lambda F: eignn.equilibrium(x.detach(), path, F), (F,))


@pytest.mark.parametrize("direction", ["in", "out"])
def test_directed_graphs_agree_with_a_dense_solve(path, direction):
    x, F = problem()
    Z = eignn.equilibrium(x, path, F, direction=direction, solver="sparse")
    expected = dense_equilibrium(x.detach().numpy(), dense_S(5, *path.tolist(), direction=direction), F.detach().numpy())
    np.testing.assert_allclose(Z.detach().numpy(), expected, rtol=1e-9, atol=1e-11)


def test_weights_of_arcs_agree_with_a_dense_solve(path):
    x, F = problem()
    weight = torch.tensor([1.0, 2.0, 0.5, 3.0, 1.5], dtype=torch.float64)
    Z = eignn.equilibrium(x, path, F, edge_weight=weight)
    expected = dense_equilibrium(x.detach().numpy(), dense_S(5, *path.tolist(), weight=weight.numpy()), F.detach().numpy())
    np.testing.assert_allclose(Z.detach().numpy(), expected, rtol=1e-9, atol=1e-11)


def test_a_sparse_matrix_is_S_itself(path):
    scipy = pytest.importorskip("scipy.sparse")
    x, F = problem()
    S = dense_S(5, *path.tolist())
    expected = dense_equilibrium(x.detach().numpy(), S, F.detach().numpy())
    for given in (torch.from_numpy(S).to_sparse(), scipy.csr_matrix(S), torch.from_numpy(S).to_sparse().coalesce()):
        np.testing.assert_allclose(eignn.equilibrium(x, given, F).detach().numpy(), expected, rtol=1e-9, atol=1e-11)
    directed = 0.5 * dense_S(5, *path.tolist(), direction="in")
    expected = dense_equilibrium(x.detach().numpy(), directed, F.detach().numpy())
    found = eignn.equilibrium(x, scipy.csr_matrix(directed), F, solver="sparse").detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_an_asymmetric_S_is_refused_by_a_solver_that_needs_a_symmetric_one(path):
    scipy = pytest.importorskip("scipy.sparse")
    x, F = problem()
    with pytest.raises(ValueError, match="directed"):
        eignn.equilibrium(x, scipy.csr_matrix(dense_S(5, *path.tolist(), direction="in")), F, solver="spectral")


def test_a_second_derivative_is_refused_and_says_so(path):
    x, F = problem()
    Z = eignn.equilibrium(x, path, F)
    (first,) = torch.autograd.grad(Z.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_a_result_that_was_written_to_is_not_differentiated(path):
    x, F = problem()
    Z = eignn.equilibrium(x, path, F)
    Z.add_(1)
    with pytest.raises(RuntimeError, match="inplace"):
        Z.sum().backward()
    x, F = problem()
    Z = eignn.equilibrium(x, path, F)
    with torch.no_grad():
        F.add_(1)
    with pytest.raises((RuntimeError, ValueError)):
        Z.sum().backward()


def test_what_is_kept_of_a_graph_is_never_stale(path):
    x, F = problem()
    graph = path.clone()
    eignn.equilibrium(x, graph, F)
    graph[1, 4] = 3  # written to: another graph in the same tensor
    fresh = eignn.equilibrium(x, graph.clone(), F)
    assert torch.equal(eignn.equilibrium(x, graph, F), fresh)
    weight = torch.ones(5, dtype=torch.float64)
    before = eignn.equilibrium(x, graph, F, edge_weight=weight)
    weight[0] = 9
    after = eignn.equilibrium(x, graph, F, edge_weight=weight)
    assert not torch.equal(before, after)
    assert torch.equal(after, eignn.equilibrium(x, graph, F, edge_weight=weight.clone()))
    networkx = pytest.importorskip("networkx")
    nx = networkx.path_graph(5)
    one = eignn.equilibrium(x, nx, F)
    nx.add_edge(0, 4)
    assert not torch.equal(one, eignn.equilibrium(x, nx, F))


def test_tensors_that_take_the_place_of_dead_ones_are_not_mistaken(path):
    x, F = problem()
    expected = {}
    for round in range(30):
        for shift in range(3):
            graph = torch.tensor([[0, 1, 2, 3], [1 + shift % 2, 2, 3, 4 - shift // 2]])
            Z = eignn.equilibrium(x, graph, F).detach()
            assert torch.equal(expected.setdefault(shift, Z), Z)
            del graph
        gc.collect()


def test_a_solver_is_prepared_once_and_used_often(path):
    solver = eignn.Solver(eignn.Graph(path), features=3, dtype=torch.float64)
    for _ in range(3):
        x, F = problem()
        Z = solver(F, x)
        assert solver.residual(Z, F, x) < 1e-14
    assert solver.name in eignn.solver_names()


def test_solvers_that_share_an_eigenbasis_agree():
    n = 100
    graph = torch.randint(n, (2, 4 * n))
    first = eignn.Solver(graph, 3, solver="spectral", dtype=torch.float64, num_nodes=n)
    second = eignn.Solver(graph.clone(), 3, solver="krylov", dtype=torch.float64, num_nodes=n)
    x, F = problem(n)
    torch.testing.assert_close(first(F, x), second(F, x))


def test_results_are_the_same_from_several_threads(path):
    solver = eignn.Solver(path, features=3, dtype=torch.float64)
    problems = [problem() for _ in range(8)]
    alone = [solver(F, x).detach() for x, F in problems]
    found = [None] * 8

    def work(k):
        x, F = problems[k]
        found[k] = solver(F, x).detach()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(a, b) for a, b in zip(alone, found))


def test_ctrl_c_ends_a_long_solve_within_a_second():
    n = 3000
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    x = torch.randn(n, 64, dtype=torch.float64)
    F = torch.zeros(64, 64, dtype=torch.float64)
    F[0, 0] = 1  # one eigenvalue of g is 1, and γ nearly so: hundreds of thousands of steps
    solver = eignn.Solver(ring, 64, gamma=0.99999, solver="picard", dtype=torch.float64, max_iterations=10**9)
    sent = []

    def press():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        solver(F, x)
    assert sent and time.monotonic() - sent[0] < 1.0
    # And the solver is as good as before.
    easy = torch.eye(64, dtype=torch.float64)
    assert solver.residual(solver(easy, x), easy, x) < 1e-9


def test_other_threads_run_while_it_computes():
    n = 2000
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    x = torch.randn(n, 64, dtype=torch.float64)
    solver = eignn.Solver(ring, 64, gamma=0.97, solver="picard", dtype=torch.float64, max_iterations=10**9)
    F = torch.zeros(64, 64, dtype=torch.float64)
    F[0, 0] = 1
    count, done = [0], [False]

    def tick():
        while not done[0]:
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    solver(F, x)
    seconds = time.monotonic() - begin
    done[0] = True
    thread.join()
    assert count[0] > 20 * seconds  # a thousand a second, were nobody else at work


def test_float32_and_contiguity(path):
    x, F = problem(dtype=torch.float32)
    Z = eignn.equilibrium(x, path, F)
    assert Z.dtype == torch.float32
    wide = torch.randn(3, 5, dtype=torch.float32)
    assert torch.allclose(eignn.equilibrium(wide.T, path, F), eignn.equilibrium(wide.T.contiguous(), path, F))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("source", ["own", "neighbours"])
def test_a_gpu_computes_what_the_cpu_does(path, source):
    x, F = problem()
    Z = eignn.equilibrium(x, path, F, source=source)
    Z.square().sum().backward()
    x2, F2 = x.detach().cuda().requires_grad_(), F.detach().cuda().requires_grad_()
    Z2 = eignn.equilibrium(x2, path.cuda(), F2, source=source)
    Z2.square().sum().backward()
    torch.testing.assert_close(Z2.cpu(), Z)
    torch.testing.assert_close(x2.grad.cpu(), x.grad)
    torch.testing.assert_close(F2.grad.cpu(), F.grad)
