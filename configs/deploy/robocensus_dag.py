"""A run of many shards under Apache Airflow 3 (https://airflow.apache.org).

Put this file into the folder of DAGs, robocensus on every worker, and what is below into
the Variables or here. OUT is on a file system that all workers share, or
s3://bucket/folder. A run of the DAG is a census: its ID is the day, such as 2026-11-20.
To repeat what is missing, clear the tasks that have failed: committed shards end at once.
"""

import subprocess
from datetime import datetime, timedelta

from airflow.exceptions import AirflowException, AirflowFailException
from airflow.sdk import dag, task

HOSTS = "/shared/hosts.csv"
OUT = "/shared/census"
USER_AGENT = "our-census/1 (+https://example.org/census)"
SHARDS = 100
PARALLELISM = 16  # the pool of workers must have as many slots

# 69: no host could be reached; 74: a disk or a store; 75: SIGTERM, or no network; 137:
# SIGKILL, as for want of memory. subprocess gives a signal as its negative number.
RETRIED = {69, 74, 75, 137, -9}

RETRIES = {
    "retries": 10,
    "retry_delay": timedelta(minutes=1),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(minutes=10),
}


def robocensus(*args):
    """Runs robocensus, and tells Airflow whether trying again is of use."""
    code = subprocess.run(["robocensus", *args], check=False).returncode
    if code in RETRIED:
        raise AirflowException(f"robocensus {args[0]}: exit code {code}: trying again")
    if code != 0:
        raise AirflowFailException(f"robocensus {args[0]}: exit code {code}: see its output")


@dag(schedule="@weekly", start_date=datetime(2026, 11, 2), catchup=False, max_active_runs=1, default_args=RETRIES)
def crawl_policies():
    @task
    def plan(ds=None):
        robocensus(
            "plan", "--hosts", HOSTS, "--shards", str(SHARDS), "--parallelism", str(PARALLELISM),
            "--out", OUT, "--run", ds, "--user-agent", USER_AGENT,
        )

    @task(max_active_tis_per_dagrun=PARALLELISM)
    def shard(index, ds=None):
        robocensus("run", "--out", OUT, "--run", ds, "--shard", str(index), "--progress", "log")

    @task
    def verify(ds=None):
        robocensus("verify", "--out", OUT, ds)

    plan() >> shard.expand(index=list(range(SHARDS))) >> verify()


crawl_policies()
