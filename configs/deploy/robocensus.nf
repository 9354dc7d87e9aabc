// A run of many shards under Nextflow (https://nextflow.io):
//
//   nextflow run robocensus.nf --hosts /shared/hosts.csv --shards 100 --parallelism 16 \
//     --out /shared/census --run 2026-11 --contact 'our-census/1 (+https://example.org/census)'
//
// Paths are absolute, or URLs: each task has a folder of its own. --out is on a file system
// that all tasks share, or s3://bucket/folder. Started again, it repeats what is missing:
// committed shards end at once.
nextflow.enable.dsl = 2

params.hosts = null
params.shards = 100
params.parallelism = 16
params.out = null
params.run = null
params.contact = null
params.flags = ''

// 69: no host could be reached; 74: a disk or a store; 75: SIGTERM, or no network; 137:
// SIGKILL, as for want of memory. The others say that trying again is of no use.
retried = [69, 74, 75, 137]

process plan {
    errorStrategy { task.exitStatus in retried ? 'retry' : 'terminate' }
    maxRetries 10

    output:
    val true

    script:
    """
    robocensus plan --hosts '${params.hosts}' --shards ${params.shards} --parallelism ${params.parallelism} \
        --out '${params.out}' --run '${params.run}' --user-agent '${params.contact}' ${params.flags}
    """
}

process shard {
    tag "$index"
    cpus 1
    memory '2 GB'
    maxForks params.parallelism
    // finish: the shards at work end, and none begins
    errorStrategy { if (task.exitStatus in retried) { sleep(60_000L * task.attempt); return 'retry' }; return 'finish' }
    maxRetries 10

    input:
    val planned
    each index

    output:
    val index

    script:
    """
    robocensus run --out '${params.out}' --run '${params.run}' --shard ${index} --progress log
    """
}

process verify {
    errorStrategy { task.exitStatus in retried ? 'retry' : 'terminate' }
    maxRetries 10

    input:
    val shards

    script:
    """
    robocensus verify --out '${params.out}' '${params.run}'
    """
}

workflow {
    ['hosts', 'out', 'run', 'contact'].each { name -> if (!params[name]) { error "--${name} is missing" } }
    plan()
    shard(plan.out, 0..<params.shards)
    verify(shard.out.collect())
}
