"""What the figures of report.py and durable_figures.py are made of: the programs that measure, and the rows that are printed."""
import json
import pathlib
import statistics
import subprocess

RUN_SECONDS_MAX = 300


class RunFailed(Exception):
    pass


def run_json(command):
    """The JSON objects that a command prints, a line each."""
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=RUN_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise RunFailed(f"{' '.join(map(str, command))}: no end within {RUN_SECONDS_MAX} s") from None
    if done.returncode != 0:
        raise RunFailed(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


class Programs:
    def __init__(self, folder, broker):
        self.folder = folder
        self.broker = broker

    def bench(self, *flags):
        return run_json([self.folder / "sluice", "bench", "--url", self.broker.url, "--json", *flags])

    def sluice(self, *words):
        return run_json([self.folder / "sluice", *words, "--url", self.broker.url, "--json"])

    def raw(self, *flags):
        return run_json([self.folder / "raw_forwarder", *flags])[0]

    def start(self, *words):
        return subprocess.Popen([self.folder / "sluice", *words, "--url", self.broker.url], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def rss_bytes(self):
        for line in pathlib.Path(f"/proc/{self.broker.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise RunFailed("the broker is gone")


class Report:
    """Rows as they come: what, figure, its spread, beside what, target, whether it is reached."""

    def __init__(self):
        self.rows = []

    def add(self, name, values, unit, target=None, beside="", higher_is_better=True, note=""):
        """`values` of all runs; `target` in the unit of the values. Returns the median."""
        median = statistics.median(values)
        reached = None
        if target is not None:
            reached = median >= target if higher_is_better else median <= target
        row = {"name": name, "median": median, "min": min(values), "max": max(values), "runs": len(values), "unit": unit, "target": target,
               "higher_is_better": higher_is_better, "reached": reached, "beside": beside, "note": note}
        self.rows.append(row)
        print(self.line(row), flush=True)
        return median

    @staticmethod
    def line(row):
        def figure(value):
            return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"

        bound = ">=" if row["higher_is_better"] else "<="
        target = "" if row["target"] is None else f"{bound} {figure(row['target'])}"
        mark = {None: "", True: "reached", False: "SHORT"}[row["reached"]]
        spread = f"{figure(row['min'])}..{figure(row['max'])}"
        return f"{row['name']:<48} {figure(row['median']):>11} {row['unit']:<6} {spread:>22}  {target:<13} {mark:<8}{row['beside']}"


def heading(text):
    print(f"\n{text}", flush=True)


def rates(results):
    return [result["rate"] for result in results]


def beside_raw(ours, raw, unit="of raw"):
    return f"{ours / raw:.2f} {unit} ({raw:,.0f})"
