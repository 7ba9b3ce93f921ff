// Runs the tools of a self-hosted environment's sessions on this machine, in this folder:
//   ENVIRONMENT_ID=env_… ENVIRONMENT_KEY=sk-ant-oat01-… TANDEM_URL=http://127.0.0.1:4760 node environment-worker.ts
import Anthropic from "@anthropic-ai/sdk";

const {
  ENVIRONMENT_ID: environmentId = "",
  ENVIRONMENT_KEY: environmentKey = "",
  TANDEM_URL: baseURL = "",
} = process.env;
const client = new Anthropic({ baseURL, apiKey: null, authToken: environmentKey });
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());

const worker = client.beta.environments.work.worker({ environmentId, environmentKey, workdir: process.cwd() });
console.log(`Waiting for sessions of ${environmentId}.`);
await worker.run(stop.signal).catch((error: unknown) => {
  if (!stop.signal.aborted) throw error;
});
