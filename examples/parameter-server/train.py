#!/usr/bin/env python3
"""Learns the sine with ParameterServerStrategy. One program, five roles; TF_CONFIG says which this process has.

  chief      hands out steps, saves a checkpoint after every round of them, and ends when all are done
  worker     computes steps; never ends by itself
  ps         keeps the variables; never ends by itself
  evaluator  scores every checkpoint, and ends with the last one

Checkpoints and summaries are in a directory that all can see: --directory, or TFYARN_SHARED_DIRECTORY where
`tfyarn run` sets it. A chief that starts again goes on from the last checkpoint; it must when a ps is lost.
"""
import argparse
import faulthandler
import os
import pathlib
import signal
import sys
import time

# The agent asks a process that hangs for its stacks by this signal: register it before the long imports.
faulthandler.register(signal.SIGUSR1, all_threads=True)
# A process that is gone is an error at once, not a long wait for its return.
os.environ.setdefault("GRPC_FAIL_FAST", "use_caller")

import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("ERROR")

BATCH = 32
RATE = 0.05


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--directory", default=os.environ.get("TFYARN_SHARED_DIRECTORY", "."), type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--round", type=int, default=50, metavar="STEPS", help="from checkpoint to checkpoint")
    parser.add_argument("--pause", type=float, default=0.0, metavar="SECONDS", help="before each step, so that a run lasts")
    return parser.parse_args()


def make_net():
    def normal(*shape):
        return tf.random.stateless_normal(shape, seed=[1, shape[0]])

    return [tf.Variable(v) for v in (normal(1, 16), tf.zeros([16]), normal(16, 1) / 4.0, tf.zeros([1]))]


def error_of(net, x):
    return tf.reduce_mean(tf.square(tf.tanh(x @ net[0] + net[1]) @ net[2] + net[3] - tf.sin(x)))


def serve(resolver):
    """A worker or ps: a server that the chief uses until the AM ends it."""
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id,
                                  protocol="grpc", start=True)
    print(f"serves at {server.target}", flush=True)
    server.join()


def evaluate(options, checkpoints):
    net = make_net()
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(net=net, step=step)
    writer = tf.summary.create_file_writer(str(options.directory / "summaries/evaluator"))
    x = tf.reshape(tf.linspace(-3.0, 3.0, 200), [-1, 1])
    for path in tf.train.checkpoints_iterator(str(checkpoints), timeout=None):
        checkpoint.restore(path).expect_partial()
        error = float(error_of(net, x))
        with writer.as_default(step=int(step.numpy())):
            tf.summary.scalar("error", error)
        writer.flush()
        print(f"scored checkpoint {int(step.numpy())} error {error:.4f}", flush=True)
        if int(step.numpy()) >= options.steps:
            return


def make_step(net, step):
    @tf.function
    def one_step(number):
        x = tf.random.stateless_uniform([BATCH, 1], tf.stack([number, 7]), -3.0, 3.0)
        with tf.GradientTape() as tape:
            error = error_of(net, x)
        for variable, gradient in zip(net, tape.gradient(error, net)):
            variable.assign_sub(RATE * gradient)
        step.assign_add(1)
        return error

    return one_step


def coordinate(options, resolver, checkpoints):
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    with strategy.scope():
        net = make_net()
        step = tf.Variable(0, dtype=tf.int64, trainable=False)
    checkpoint = tf.train.Checkpoint(net=net, step=step)
    manager = tf.train.CheckpointManager(checkpoint, str(checkpoints), max_to_keep=3)
    if manager.latest_checkpoint:
        checkpoint.restore(manager.latest_checkpoint)
        print(f"resumed from step {int(step.numpy())}", flush=True)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    writer = tf.summary.create_file_writer(str(options.directory / "summaries/chief"))
    train = make_step(net, step)
    done = int(step.numpy())
    while done < options.steps:
        errors = []
        for number in range(done, min(done + options.round, options.steps)):
            time.sleep(options.pause)
            errors.append(coordinator.schedule(train, args=(tf.constant(number),)))
        coordinator.join()  # Raises when a ps is gone; waits for ever for a worker that stands still.
        # A step whose worker died is computed again, so there may be a few more than were handed out.
        done = int(step.numpy())
        error = sum(float(e.fetch()) for e in errors) / len(errors)
        with writer.as_default(step=done):
            tf.summary.scalar("error", error)
        writer.flush()
        manager.save(checkpoint_number=done)
        print(f"step {done} error {error:.4f}", flush=True)
    writer.close()
    print(f"done after step {done}", flush=True)
    # The coordinator's own end waits, without a limit, for a thread that waits for a worker that was lost and came back.
    os._exit(0)


def main():
    options = arguments()
    checkpoints = options.directory / "checkpoints"
    checkpoints.mkdir(parents=True, exist_ok=True)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        serve(resolver)
    elif resolver.task_type == "evaluator":
        evaluate(options, checkpoints)
    elif resolver.task_type == "chief":
        coordinate(options, resolver, checkpoints)
    else:
        sys.exit(f"no role for task type {resolver.task_type!r}")


if __name__ == "__main__":
    main()
