#!/usr/bin/env bash
# A sweep in one run, by GNU parallel and as a job array of a Slurm cluster of this
# one machine: all three give the same table and the same points, to the byte.
# `make campaign-cluster` installs what it needs.
set -euo pipefail
SPADKIT=$(realpath "${1:?usage: check.sh SPADKIT}")
export SPADKIT
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
daemons=()
stop() {
  if [ ${#daemons[@]} -gt 0 ]; then
    kill "${daemons[@]}" 2>/dev/null || true
    wait "${daemons[@]}" || true
  fi
  rm -rf "$scratch"
}
trap stop EXIT
cd "$scratch"

sweep=(kernel:nw --hash mod --hash xor --pipeline unified,split,elastic --scheduler lrr,gto)
shards=4

# What the shards in a folder come to.
whole() {
  (cd "$1" && "$SPADKIT" sim "${sweep[@]}" --sweep -q --csv table.csv --points all.jsonl \
    $(printf -- '--points %s ' shard-*.jsonl) > table.txt)
}
same() {
  for file in table.csv table.txt all.jsonl; do
    cmp "one/$file" "$1/$file"
  done
  echo "$1: the same table and points as in one run"
}

mkdir one parallel slurm
(cd one && "$SPADKIT" sim "${sweep[@]}" --sweep -q --csv table.csv --points all.jsonl > table.txt)
echo "one run: $(wc -l < one/all.jsonl) points"

(cd parallel && seq "$shards" | parallel --will-cite \
  "$SPADKIT" sim "${sweep[@]}" --sweep -q --shard "{}/$shards" --points "shard-{}.jsonl" > log)
whole parallel
same parallel

host=$(hostname -s)
mkdir state spool
cat > slurm.conf <<END
ClusterName=one
SlurmctldHost=$host
AuthType=auth/none
CredType=cred/none
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=$host CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$scratch/slurm.conf
slurmctld -D -f "$SLURM_CONF" 2> slurmctld.log & daemons+=($!)
slurmd -D -f "$SLURM_CONF" 2> slurmd.log & daemons+=($!)
for _ in $(seq 60); do
  [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
  sleep 1
done
(cd slurm && sbatch --wait --array="1-$shards" "$here/sweep.slurm" "${sweep[@]}")
whole slurm
same slurm

# A task that was lost is submitted again, alone.
rm slurm/shard-3.jsonl slurm/all.jsonl
(cd slurm && sbatch --wait --array=3 "$here/sweep.slurm" "${sweep[@]}")
whole slurm
same slurm
