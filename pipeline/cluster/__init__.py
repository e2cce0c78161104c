"""The door to Dask, and the only package that imports it: the same calls as `execute.Serial`, on many processes."""

from pipeline.cluster.calls import Cluster
from pipeline.cluster.client import Unreachable
from pipeline.cluster.connect import connect, local_cluster, slurm_threads

__all__ = ["Cluster", "Unreachable", "connect", "local_cluster", "slurm_threads"]
