"""Connecting to clusters: local workers, schedulers that run already, and what is said where there are none."""

import json
import os
import re
import signal
from itertools import count
from time import monotonic
from urllib.request import urlopen

import dask
import psutil
import pytest

from pipeline.cluster import calls, client, connect, local_cluster
from pipeline.cluster.calls import WINDOW
from pipeline.execute import Connection
from tests.pipeline.certificates import make_pem, tls_options, tls_settings
from tests.pipeline.clusters import calculating, dask_processes, process_after, wait_until
from tests.pipeline.games import ROOT, arguments, autohold, contents, end, log, start


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_processes(tmp_path_factory.mktemp("cluster"), 1) as dask:
        yield dask


NOWHERE = "tcp://127.0.0.1:1"
SOON = ("--wait-timeout", 1)


@pytest.mark.parametrize("named_by", ["--scheduler", "--scheduler-file", "DASK_SCHEDULER_ADDRESS"])
def test_a_scheduler_that_runs_already(game_file, whole, tmp_path, cluster, named_by):
    file, address = cluster.file, cluster.address
    if named_by == "DASK_SCHEDULER_ADDRESS":
        done = autohold(*arguments(game_file, tmp_path / "run"), DASK_SCHEDULER_ADDRESS=address)
    else:
        # Flags beat the environment.
        said = address if named_by == "--scheduler" else file
        done = autohold(*arguments(game_file, tmp_path / "run", named_by, said), DASK_SCHEDULER_ADDRESS=NOWHERE)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(whole)
    expected = file if named_by == "--scheduler-file" else address
    assert log(tmp_path / "run")[0]["executor"] == f"scheduler {expected}"


@pytest.mark.parametrize("flags", [("--serial",), ("--workers", "1")], ids=" ".join)
def test_flags_beat_the_address_in_the_environment(game_file, whole, tmp_path, flags):
    done = autohold(*arguments(game_file, tmp_path / "run", *flags), DASK_SCHEDULER_ADDRESS=NOWHERE)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(whole)


@pytest.mark.parametrize("named_by", ["--scheduler", "--scheduler-file", "DASK_SCHEDULER_ADDRESS"])
def test_a_scheduler_out_of_reach(game_file, tmp_path, named_by):
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": NOWHERE}))
    more = {"--scheduler": (named_by, NOWHERE), "--scheduler-file": (named_by, file)}.get(named_by, ())
    address = NOWHERE if named_by == "DASK_SCHEDULER_ADDRESS" else ""
    done = autohold(*arguments(game_file, tmp_path / "run", *more, *SOON), DASK_SCHEDULER_ADDRESS=address)
    assert done.returncode == 75, done.stderr
    assert f"no Dask scheduler answers at {file if named_by == '--scheduler-file' else NOWHERE}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("text", [None, "", "{}", "no JSON"], ids=["missing", "empty", "no address", "no JSON"])
def test_a_scheduler_file_that_is_wrong(game_file, tmp_path, text):
    if text is not None:
        (tmp_path / "scheduler.json").write_text(text)
    done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler-file", tmp_path / "scheduler.json", *SOON))
    assert done.returncode == 75, done.stderr
    assert str(tmp_path / "scheduler.json") in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def no_time(monkeypatch):
    """Waiting for workers takes no time, however long it is."""
    monkeypatch.setattr(client, "monotonic", count(step=100).__next__)


@pytest.mark.usefixtures("no_time")
def test_a_scheduler_without_workers(command, game_file, tmp_path):
    with dask_processes(tmp_path) as dask:
        done = command(*arguments(game_file, tmp_path / "run", "--scheduler", dask.address, "--wait-timeout", 300))
    assert done.returncode == 75, done.stderr
    what = f"the Dask scheduler at {dask.address}"
    waiting, failed, again = done.stderr.splitlines()
    assert waiting == f"waiting up to 300 s for 1 worker of {what}"
    assert failed == f"autohold: {what} has no workers after 300 s"
    assert again == "nothing has been made this time; repeat the command"
    assert not (tmp_path / "run").exists()


def test_a_worker_with_too_little_memory_is_refused(game_file, tmp_path):
    with dask_processes(tmp_path / "dask", 0) as dask:
        dask.worker("--memory-limit", "170MiB")
        done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler", dask.address))
    assert done.returncode == 2, done.stderr
    assert "has 170 MiB for each thread" in done.stderr


def test_what_it_connected_to_is_said(game_file, tmp_path, cluster):
    done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler", cluster.address))
    assert f"autohold: the Dask scheduler at {cluster.address}: 1 worker, 1 thread" in done.stderr.splitlines()
    done = autohold(*arguments(game_file, tmp_path / "run2", "--workers", 2))
    assert "autohold: this machine: 2 workers, 2 threads" in done.stderr.splitlines()


KILLED = '["import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]'
STOPPED = '["import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"]'
FULL = """["open('/dev/full', 'w', buffering=1).write('all\\\\n')"]"""
AGAIN = "nothing has been made this time; repeat the command"
MENDED = "when that is mended, repeat the command"


@pytest.mark.parametrize(
    ("setting", "value", "code", "said", "advice"),
    [
        ("DISTRIBUTED__WORKER__PRELOAD", KILLED, 75, "Nanny failed to start worker process", [AGAIN]),
        ("DISTRIBUTED__WORKER__PRELOAD", STOPPED, 75, "not in 1 s", [AGAIN]),
        ("DISTRIBUTED__WORKER__PRELOAD", '["raise ValueError(5)"]', 75, "5", [AGAIN]),
        ("DISTRIBUTED__WORKER__PRELOAD", "not_there", 2, "No module named 'not_there'", []),
        ("DISTRIBUTED__NANNY__PRELOAD", "not_there", 2, "No module named 'not_there'", []),
        ("DISTRIBUTED__WORKER__PRELOAD", FULL, 74, "No space left on device", [MENDED]),
        ("TEMPORARY_DIRECTORY", f"{__file__}/x", 74, f"Not a directory: {__file__}/x", [MENDED]),
    ],
    ids=["killed", "stopped", "wrong", "no module", "no module of a nanny", "full", "no folder"],
)
def test_local_workers_that_do_not_start(game_file, tmp_path, setting, value, code, said, advice):
    more = ("--workers", 1, *(SOON if value == STOPPED else ()))
    done = autohold(*arguments(game_file, tmp_path / "run", *more), **{f"DASK_{setting}": value})
    assert done.returncode == code, done.stderr
    problem, *others = done.stderr.partition("autohold: ")[2].splitlines()
    assert problem.endswith(f"1 local worker could not be started: {said}")
    assert others == advice
    assert not (tmp_path / "run").exists()


def test_a_signal_while_a_local_worker_that_starts_is_stopped(game_file, tmp_path):
    """The command ends, and so does the worker."""
    more = ("--workers", 1, "--wait-timeout", 3600)
    process = start(*arguments(game_file, tmp_path / "run", *more), DASK_DISTRIBUTED__WORKER__PRELOAD=STOPPED)
    wait_until(lambda: [one.status() for one in calculating(process)] == [psutil.STATUS_STOPPED])
    (worker,) = calculating(process)
    process.terminate()
    code, _, said = end(process)
    assert code == 143, said
    assert said.partition("autohold: ")[2] == f"stopped by SIGTERM; {AGAIN}\n"
    assert not worker.is_running()


def pages(greeting):
    """The address of the dashboard in a greeting, and what is served there."""
    link = re.search(r"; dashboard (http://127\.0\.0\.1:\d+/status)$", greeting)[1]
    with urlopen(link) as answer:
        return answer.read().decode()


def test_the_link_of_the_dashboard_leads_to_one(tmp_path):
    with local_cluster(1, dashboard=True) as found:
        assert "<title>Dask Diagnostic UI</title>" in pages(found.greeting)
    shown = ("--dashboard-address", "127.0.0.1:0", "--dashboard")
    with dask_processes(tmp_path / "dask", 1, *shown) as dask, connect(Connection(scheduler=dask.address)) as found:
        assert "<title>Dask Diagnostic UI</title>" in pages(found.greeting)


def test_a_dashboard_without_bokeh(game_file, tmp_path):
    (tmp_path / "bokeh.py").write_text("raise ImportError")
    settings = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = autohold(*arguments(game_file, tmp_path / "run", "--workers", 1, "--dashboard"), **settings)
    said = "no dashboard, for bokeh is not installed: pip install 'autohold[dashboard]'"
    assert f"autohold: this machine: 1 worker, 1 thread; {said}" in done.stderr.splitlines()


@pytest.mark.usefixtures("no_time")
def test_more_workers_are_waited_for_than_there_are(command, game_file, tmp_path, cluster):
    cluster.wait_for_workers(1)
    more = ("--scheduler", cluster.address, "--wait-workers", 3, "--wait-timeout", 300)
    done = command(*arguments(game_file, tmp_path / "run", *more))
    assert done.returncode == 75, done.stderr
    said = f"the Dask scheduler at {cluster.address} has 1 worker after 300 s; --wait-workers 3 are wanted"
    assert said in done.stderr
    assert not (tmp_path / "run").exists()


def test_nobody_but_this_machine_reaches_local_workers():
    me = psutil.Process()
    others = me.children(recursive=True)
    with local_cluster(1, dashboard=True):
        served = [
            port.laddr.ip
            for process in {me, *me.children(recursive=True)} - {*others}
            for port in process.net_connections("tcp")
            if port.status == psutil.CONN_LISTEN
        ]
    assert len(served) >= 3  # scheduler, worker and its nanny
    assert {*served} == {"127.0.0.1"}


def test_local_workers_load_what_dask_is_configured_to(tmp_path):
    preload = f"open(r'{tmp_path}/loaded', 'w').close()"
    with dask.config.set({"distributed.worker.preload": [preload]}), local_cluster(1) as cluster:
        (clock,) = cluster._client.run(eval, "__import__('tornado').ioloop.IOLoop.time.__module__").values()
    assert clock == "pipeline.steady_clock"
    assert (tmp_path / "loaded").exists()


def test_the_window_of_calls_in_flight_follows_the_workers(tmp_path):
    most = 20_000
    sent, done, happened = [], [], []
    keys = (sent.append(number) or f"call-{number}" for number in range(most))
    with dask_processes(tmp_path, 1) as dask, connect(Connection(scheduler=dask.address)) as cluster:
        flying = {1: 0, 2: 0}
        for _, pid in cluster.map(process_after, [0.05] * most, keys, happened.append):
            if not done:
                dask.worker()
            joined = any(event["event"] == "worker joined" for event in happened)
            flying[1 + joined] = max(flying[1 + joined], len(sent) - len(done))
            done.append(pid)
            if len({*done}) == 2 and flying[2] >= 2 * WINDOW:
                break
    assert flying == {1: WINDOW, 2: 2 * WINDOW}


def test_workers_that_are_lost_after_a_long_time_without_a_pause_are_waited_for(tmp_path, monkeypatch):
    later, most = [0], 3 * WINDOW
    monkeypatch.setattr(calls, "monotonic", lambda: monotonic() + later[0])
    with dask_processes(tmp_path) as dask:
        worker = dask.worker()
        with connect(Connection(scheduler=dask.address, wait_timeout=300)) as cluster:
            results = cluster.map(process_after, [0.01] * most, [f"call-{n}" for n in range(most)])
            next(results)
            later[0] = 3600
            dask.kill(worker)
            wait_until(lambda: not cluster._client.nthreads())
            dask.worker()
            assert 1 + len(list(results)) == most


def test_a_worker_that_does_not_answer_keeps_back_its_own_results_only(tmp_path):
    happened, most = [], 60
    with dask_processes(tmp_path, 2) as dask, connect(Connection(scheduler=dask.address, wait_workers=2)) as cluster:
        results = cluster.map(process_after, [0.1] * most, [f"call-{n}" for n in range(most)], happened.append)
        _, stopped = next(results)
        done = [stopped]
        (address,) = (where for where, pid in cluster._client.run(os.getpid).items() if pid == stopped)
        wait_until(lambda: cluster._client.has_what()[address])
        os.kill(stopped, signal.SIGSTOP)
        while len(done) - done.count(stopped) < 2 * WINDOW:  # all that were on their way, and more
            done.append(next(results)[1])
        assert happened == []  # nobody has given up the worker
        os.kill(stopped, signal.SIGCONT)
        assert len(done) + len(list(results)) == most


# --- TLS --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pem(tmp_path_factory):
    return make_pem(tmp_path_factory.mktemp("pem"))


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory, pem):
    """A scheduler with a worker that talk TLS only."""
    options = ("--tls-ca-file", pem["ca"], "--tls-cert", pem["cert"], "--tls-key", pem["key"])
    with dask_processes(tmp_path_factory.mktemp("tls"), 0, "--protocol", "tls", *options) as dask:
        dask.worker(*options)
        yield dask


def test_tls_by_options(game_file, whole, tmp_path, encrypted, pem):
    assert encrypted.address.startswith("tls://")
    done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler", encrypted.address, *tls_options(pem)))
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(whole)


def test_tls_by_configuration(game_file, whole, tmp_path, encrypted, pem):
    done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler", encrypted.address), **tls_settings(pem))
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(whole)


def test_files_that_are_no_certificates_are_named(command, game_file, tmp_path, pem):
    words = ("certify", game_file, "--out", tmp_path / "run", "--scheduler", "tls://127.0.0.1:1")
    done = command(*words, "--tls-ca", pem["key"], "--tls-cert", pem["ca"], "--tls-key", pem["key"])
    assert done.returncode == 2
    ca, member = done.stderr.splitlines()
    assert ca.startswith(f"autohold: --tls-ca: {pem['key']}: is no certificate authority in PEM: ")
    assert member.startswith(
        f"--tls-cert and --tls-key: {pem['ca']} and {pem['key']}: are no certificate in PEM with its key"
    )
    assert "[X509: KEY_VALUES_MISMATCH]" in member
    assert not (tmp_path / "run").exists()


def test_an_encrypted_scheduler_wants_certificates(game_file, tmp_path, encrypted):
    done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler", encrypted.address))
    assert done.returncode == 2, done.stderr
    assert f"{encrypted.address}: needs certificates: give --tls-ca, --tls-cert and --tls-key" in done.stderr
    assert not (tmp_path / "run").exists()


def test_an_encrypted_scheduler_does_not_talk_in_the_open(game_file, tmp_path, encrypted):
    address = encrypted.address.replace("tls", "tcp")
    done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler", address, *SOON))
    assert done.returncode == 75, done.stderr
    assert f"no Dask scheduler answers at {address}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


CA, KEY = ("--tls-ca", __file__), ("--tls-key", __file__)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((*CA,), "give all three or none"),
        ((*CA, *KEY, "--scheduler", "tls://a:1"), "give all three or none"),
        ((*CA, "--tls-cert", __file__, *KEY, "--serial"), "need --scheduler"),
        (("--tls-ca", "nowhere.pem"), "'nowhere.pem' does not exist"),
        (("--dashboard", "--serial"), "--dashboard is for local workers"),
        (("--wait-timeout", 0), "--wait-timeout"),
        (("--serial", "--wait-workers", 2), "more than 1 worker, and would wait in vain"),
        (("--workers", 2, "--wait-workers", 3), "more than 2 workers, and would wait in vain"),
        (("--wait-workers", 10**6), "would wait in vain"),
    ],
    ids=lambda value: " ".join(map(str, value)).replace(__file__, "F") if isinstance(value, tuple) else "",
)
def test_options_that_do_not_fit(command, game_file, tmp_path, more, said):
    done = command(*arguments(game_file, tmp_path / "run", *more))
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "run").exists()
