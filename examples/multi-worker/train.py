#!/usr/bin/env python3
"""Several workers learn the sine together with MultiWorkerMirroredStrategy, and go on where they were after a restart.

Every worker runs this program. TF_CONFIG says who takes part; without it one process trains alone. The first worker
keeps the checkpoints, in a directory that all can see: --directory, or TFYARN_SHARED_DIRECTORY where `tfyarn run`
sets it. With --preemptible a SIGTERM to any one worker lets all of them save at the same step and leave with 75.

A lost worker ends the others with 1 within seconds ("Collective ops is aborted"); all must then start again.
"""
import argparse
import faulthandler
import json
import os
import pathlib
import signal
import time

# The agent asks a process that hangs for its stacks by this signal: register it before the long imports.
faulthandler.register(signal.SIGUSR1, all_threads=True)

import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("ERROR")

BATCH = 32  # Of each worker.
RATE = 0.1
PREEMPTED = 75


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--directory", default=os.environ.get("TFYARN_SHARED_DIRECTORY", "."), type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--save-every", type=int, default=25, metavar="STEPS")
    parser.add_argument("--pause", type=float, default=0.0, metavar="SECONDS", help="after each step, so that a run lasts")
    parser.add_argument("--preemptible", action="store_true", help=f"on SIGTERM all save together and leave with {PREEMPTED}")
    return parser.parse_args()


def own_place():
    """Whether this is the first of all workers, and a name that no other has."""
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    task = config.get("task", {"type": "worker", "index": 0})
    first = "chief" if "chief" in config.get("cluster", {}) else "worker"
    return (task["type"], task["index"]) == (first, 0), f"{task['type']}-{task['index']}"


def make_net():
    def normal(*shape):
        return tf.random.stateless_normal(shape, seed=[1, shape[0]])

    return [tf.Variable(v) for v in (normal(1, 16), tf.zeros([16]), normal(16, 1) / 4.0, tf.zeros([1]))]


def predict(net, x):
    return tf.tanh(x @ net[0] + net[1]) @ net[2] + net[3]


def step_of(checkpoint):
    return int(tf.train.load_variable(checkpoint, "step/.ATTRIBUTES/VARIABLE_VALUE"))


def leave_when_preempted(checkpoint, directory):
    """Hears SIGTERM in one worker, agrees with all on a step, saves there, and ends all."""
    def leave():
        print(f"preempted after step {int(checkpoint.step.numpy())}", flush=True)
        os._exit(PREEMPTED)  # Not sys.exit: it may be called from a thread that is not the main one.

    return tf.distribute.experimental.PreemptionCheckpointHandler(
        tf.distribute.cluster_resolver.TFConfigClusterResolver(), checkpoint, str(directory),
        tf.distribute.experimental.TerminationConfig(exit_fn=leave, grace_period=0))


def make_step(strategy, net, step):
    def on_one_worker():
        replica = tf.distribute.get_replica_context()
        seed = tf.stack([tf.cast(step, tf.int32), replica.replica_id_in_sync_group])
        x = tf.random.stateless_uniform([BATCH, 1], seed, -3.0, 3.0)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(predict(net, x) - tf.sin(x))) / strategy.num_replicas_in_sync
        gradients = replica.all_reduce(tf.distribute.ReduceOp.SUM, tape.gradient(loss, net))
        for variable, gradient in zip(net, gradients):
            variable.assign_sub(RATE * gradient)
        return loss

    @tf.function
    def one_step():
        losses = strategy.run(on_one_worker)
        step.assign_add(1)
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    return one_step


def main():
    options = arguments()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    first, name = own_place()
    with strategy.scope():
        net = make_net()
        step = tf.Variable(0, dtype=tf.int64, trainable=False)
    checkpoint = tf.train.Checkpoint(net=net, step=step)

    # Saving may need every worker, but only the first one's files are wanted.
    checkpoints = options.directory / "checkpoints"
    own = checkpoints if first else checkpoints / f"unused-{name}"
    manager = tf.train.CheckpointManager(checkpoint, str(own), max_to_keep=3)
    preempted = checkpoints / "preempted"
    handler = leave_when_preempted(checkpoint, preempted) if options.preemptible else None

    # All look into the same places, and so all start from the same step.
    found = [path for path in map(tf.train.latest_checkpoint, (str(checkpoints), str(preempted))) if path]
    if found:
        checkpoint.restore(max(found, key=step_of)).expect_partial()
        print(f"resumed from step {int(step.numpy())}", flush=True)

    train = make_step(strategy, net, step)
    while (done := int(step.numpy())) < options.steps:
        loss = handler.run(train) if handler else train()
        done += 1
        print(f"step {done} loss {float(loss):.4f}", flush=True)
        if done % options.save_every == 0 or done == options.steps:
            manager.save(checkpoint_number=done)
        time.sleep(options.pause)
    print(f"done after step {options.steps}, with {strategy.num_replicas_in_sync} workers", flush=True)


if __name__ == "__main__":
    main()
