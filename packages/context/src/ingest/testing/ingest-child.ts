// A process that ingests: `ingest-child.ts <root> <model's address> [stop]`, see `runTestIngest`.
import { runTestIngest } from "./run-test-ingest.ts";

const [root = "", url = "", stop] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(await runTestIngest(root, url, stop))}\n`);
