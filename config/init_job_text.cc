// The job that `tfyarn init` writes: its job.yaml and its program.
#include "config/load.h"

namespace tfyarn::config {

std::string InitJobText() {
  return R"yaml(# A first job: two workers train one net together, and go on from their last checkpoint when one is lost.
# Run it here:        tfyarn run FILE
# What a field means: tfyarn explain watch.stalled
schema: tfyarn.job/v1
name: first
framework: tensorflow               # each process gets TF_CONFIG
strategy: multi-worker              # they need each other: when one is lost all start again

files: [train.py]                   # put into every task's work directory
tasks:
  worker: {instances: 2, memory: 1GiB, vcores: 1, command: [python3, train.py, "200"]}
env: {TF_CPP_MIN_LOG_LEVEL: "2"}

retries: {user: 1, infrastructure: 20}         # restarts after the program's own failures, and after others
watch: {progress: "step (\\d+)", stalled: 5m}  # no new step for so long is a failure too
)yaml";
}

std::string InitProgramText() {
  return R"python(#!/usr/bin/env python3
"""Learns the sine on all workers of the job together. Usage: train.py STEPS"""
import os
import sys
import time

try:
    import tensorflow as tf
except ImportError:
    sys.exit(f"TensorFlow is not installed for {sys.executable}. Install it there (pip install tensorflow-cpu), or put\n"
             "the python3 of an environment that has it first in PATH, and run the job again.")

# Every worker sees this directory, and it outlives their processes. On a cluster let it be one in HDFS.
CHECKPOINTS = os.path.join(os.environ.get("TFYARN_SHARED_DIRECTORY", "."), "checkpoints")
STEPS = int(sys.argv[1])
INDEX = int(os.environ.get("TFYARN_TASK_INDEX", "0"))

strategy = tf.distribute.MultiWorkerMirroredStrategy()  # Reads TF_CONFIG.
with strategy.scope():
    weights = [tf.Variable(tf.random.stateless_normal([1, 16], [1, 1])), tf.Variable(tf.zeros([16])),
               tf.Variable(tf.random.stateless_normal([16, 1], [1, 2]) / 4.0)]
    step = tf.Variable(0, dtype=tf.int64, trainable=False)


@tf.function
def train():
    def on_one_worker():
        replica = tf.distribute.get_replica_context()
        seed = tf.stack([tf.cast(step, tf.int32), replica.replica_id_in_sync_group])
        x = tf.random.stateless_uniform([32, 1], seed, -3.0, 3.0)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ weights[0] + weights[1]) @ weights[2] - tf.sin(x)))
            loss /= strategy.num_replicas_in_sync
        for weight, gradient in zip(weights, replica.all_reduce("SUM", tape.gradient(loss, weights))):
            weight.assign_sub(0.1 * gradient)
        return loss

    losses = strategy.run(on_one_worker)
    step.assign_add(1)
    return strategy.reduce("SUM", losses, axis=None)


# All must take part in saving; only the first worker's checkpoints are used.
checkpoint = tf.train.Checkpoint(step=step, weights=weights)
own = CHECKPOINTS if INDEX == 0 else os.path.join(CHECKPOINTS, f"unused-{INDEX}")
manager = tf.train.CheckpointManager(checkpoint, own, max_to_keep=2)
last = tf.train.latest_checkpoint(CHECKPOINTS)
if last:
    checkpoint.restore(last).expect_partial()
    print("resumed from step", int(step.numpy()), flush=True)
while (done := int(step.numpy())) < STEPS:
    loss = float(train())
    done += 1
    if INDEX == 0 and done % 10 == 0:
        print(f"loss {loss:.4f}")
    print("step", done, flush=True)
    if done % 20 == 0:
        manager.save(checkpoint_number=done)
    time.sleep(0.02)  # So that there is time to look at it, and to kill a worker.
)python";
}

}  // namespace tfyarn::config
