import { scratchMachine } from "../../apps/cli/src/testing/run-tandem.ts";
import { startUp, type UpProcess } from "../../apps/cli/src/testing/session-machine.ts";

export type Machine = Awaited<ReturnType<typeof benchMachine>>;

/** A home and a project of their own, whose sessions ask for their model at that address. */
export async function benchMachine(modelUrl: string, settings = "") {
  const machine = await scratchMachine(
    `llm:\n  claudeCode: { auth: api_key, apiKey: "env:SESSION_KEY", baseUrl: "${modelUrl}" }\n${settings}`,
  );
  await machine.trust();
  return {
    ...machine,
    /** `tandem up`, once it is ready. */
    up: (): Promise<UpProcess> =>
      startUp(machine.start(["up", "--json", "--port", "0"], { env: { SESSION_KEY: "sk-ant-made-up" } })),
  };
}
