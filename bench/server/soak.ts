import { briefModel, SHORT_IDLE, soak as soakRun, type Sample } from "../../apps/cli/src/faults/soak-run.ts";
import { sessionMachine } from "../../apps/cli/src/testing/session-machine.ts";
import { processesIn } from "../../apps/cli/src/testing/process-stats.ts";
import { count, type Figure, type Section } from "./report.ts";

const SESSIONS = 200;
const EVERY = 20;

/** Short sessions in a row: what the server holds at the beginning, in the middle and at the end. */
export async function soak(): Promise<Section[]> {
  await using machine = await sessionMachine(briefModel, SHORT_IDLE);
  await using server = await machine.upProcess();
  const samples: Sample[] = [];
  const at = Array.from({ length: SESSIONS / EVERY + 1 }, (_, index) => index * EVERY);
  for await (const sample of soakRun(server, SESSIONS, at)) {
    const { sessions, rssMb, fds, threads, during, atRest } = sample;
    console.error(
      `soak: ${sessions} sessions, ${count(rssMb)} MB RSS, ${fds} handles, ${threads} threads, ${during} processes, ${atRest} at rest`,
    );
    samples.push(sample);
  }
  await server.stop();
  const left = processesIn(machine.folder.path);
  const first = samples[1]!;
  const middle = samples[Math.floor(samples.length / 2)]!;
  const figure = (what: string, of: (sample: Sample) => number): Figure => ({
    what: `${what}, after ${EVERY} / ${middle.sessions} / ${SESSIONS}`,
    value: [first, middle, samples.at(-1)!].map((sample) => count(of(sample))).join(" / "),
  });
  return [
    {
      title: `soak, ${SESSIONS} sessions in a row`,
      figures: [
        figure("RSS, MB", ({ rssMb }) => rssMb),
        figure("handles", ({ fds }) => fds),
        figure("threads", ({ threads }) => threads),
        figure("Claude Code processes at rest", ({ atRest }) => atRest),
        { what: "processes left after the server", value: count(left.length) },
      ],
    },
  ];
}
