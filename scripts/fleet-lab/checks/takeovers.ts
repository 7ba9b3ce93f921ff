import { VOLUME_WORKERS } from "../lab-machines.ts";
import { timeTakeovers } from "../measure-takeovers.ts";
import { type CheckContext, type LabCheck, letVanish, startAgain, turnOff } from "./lab-check.ts";

const [ONE, TWO = ONE] = VOLUME_WORKERS;
/** Names the sessions of each check. */
const ROUNDS = { dead: 100, silent: 101 };

/** All sessions of a dead worker's machine run elsewhere within the lease and a slack. */
export const takeovers: readonly LabCheck[] = [
  {
    name: "every session of a worker's dead machine runs elsewhere within its lease and a slack",
    async run(context) {
      try {
        await takeOver(context, ROUNDS.dead, ONE, () => turnOff(context, ONE));
      } finally {
        await startAgain(context, ONE);
      }
    },
  },
  {
    name: "every session of a worker's vanished machine runs elsewhere within its lease and a slack",
    async run(context) {
      const back = Promise.withResolvers<void>();
      let vanishing = Promise.resolve();
      const end = async () => void (vanishing = letVanish(context, TWO, () => back.promise));
      try {
        await takeOver(context, ROUNDS.silent, TWO, end);
      } finally {
        back.resolve();
        await vanishing;
        await startAgain(context, TWO);
      }
    },
  },
];

async function takeOver(context: CheckContext, round: number, machine: typeof ONE, end: () => Promise<void>) {
  const { stage, model, settings } = context;
  const times = await timeTakeovers(stage, { model: model.takeovers, machine, end, settings, round });
  console.error(`  Takeovers: ${times.map((time) => `${(time / 1_000).toFixed(1)} s`).join(", ")}`);
}
