// npm run bench NAME [-- options]: side-by-side measurements, apart from the tests.
const BENCHES: Record<string, { about: string; load: () => Promise<{ run: (args: string[]) => Promise<void> }> }> = {
  runtime: {
    about:
      "LLM calls through Claude Code: the bare SDK, a peer, and this runtime with its pool off, single-use and reuse",
    load: () => import("./runtime/runtime.ts"),
  },
  storage: {
    about: "the store on SQLite and Postgres: bytes per turn, appends, reads, and what the event loop feels of them",
    load: () => import("./storage/storage.ts"),
  },
  search: {
    about: "searches over 100,000 documents: by words, by words and vectors, and what others feel of them",
    load: () => import("./search/search.ts"),
  },
  checkpoints: {
    about: "checkpoints of a folder of 10,000 files: the first, those after it, a diff, the disk",
    load: () => import("./checkpoints/checkpoints.ts"),
  },
  server: {
    about: "the server under load: fanout, sessions, open, idle, soak; one part alone by its name",
    load: () => import("./server/server.ts"),
  },
  fleet: {
    about: "servers and workers on one Postgres: turns, lag between processes, the queue, what a turn writes, fan-out",
    load: () => import("./fleet/fleet.ts"),
  },
  scale: {
    about: "what 1,000, 100,000 and 10 million sessions a day need, calculated and simulated from measured figures",
    load: () => import("./scale/scale.ts"),
  },
  page: {
    about: "the page in a real browser: a session of 10,000 parts opened, 200 deltas a second, typing, scrolling",
    load: () => import("./page/web-page.ts"),
  },
  acp: {
    about: "an editor's agent: start, first and warm prompt, second session, cancel, memory; a peer beside it",
    load: () => import("./acp/acp.ts"),
  },
  queue: {
    about:
      "the queue of runs, in memory and on Postgres: statements and time per run, runs per second, what waiting costs",
    load: () => import("./queue/queue.ts"),
  },
  demo: {
    about: "the first minute: from the installed command without a login to the visible page and the first answer",
    load: () => import("./demo/demo.ts"),
  },
  sandbox: {
    about: "what the sandbox costs a session: its start, a turn with a shell command, memory; with and without it",
    load: () => import("./sandbox/sandbox.ts"),
  },
  session: {
    about: "sessions, server and command as installed, beside a bare SDK call: first message, resume, approval, start",
    load: () => import("./session/session.ts"),
  },
  scan: {
    about: "a catalogue of 1,000 tables: scans of it, and questions about it; time, CPU and memory",
    load: () => import("./scan/scan.ts"),
  },
  retrieval: {
    about: "tables found for 46 questions over four databases: recall@10 and MRR, with filler and plain descriptions",
    load: () => import("./retrieval/retrieval.ts"),
  },
  evals: {
    about: "60 questions on three sample databases, without a model: gold statements, recall@10, values, join paths",
    load: () => import("./evals/evals.ts"),
  },
  verdicts: {
    about: "verdicts on random statements over samples and a TPC-H-shaped database: false proofs, recall, time",
    load: () => import("./verdicts/verdicts.ts"),
  },
  relationships: {
    about: "joins found again in databases whose foreign keys were stripped: precision, recall, F1; files as arguments",
    load: () => import("./relationships/relationships.ts"),
  },
  "joins-scale": {
    about: "joins in schemas of 400 tables × 50 text columns, 1,000 tables, 1,500 columns: time, CPU, memory, F1",
    load: () => import("./relationships/scale.ts"),
  },
};

const [name = "", ...args] = process.argv.slice(2);
const bench = BENCHES[name];
if (bench) {
  const { run } = await bench.load();
  await run(args);
} else {
  console.error(name ? `There is no bench "${name}".` : "Which bench?");
  for (const [known, { about }] of Object.entries(BENCHES)) console.error(`  npm run bench ${known}   ${about}`);
  process.exitCode = 2;
}
