// Which Node runs this process, and its modules. Plain JavaScript for Node 20, as the launcher.

export const WANTED_MAJOR = 24;
const OLDEST_MAJOR = 20;

export const currentMajor = () => Number(process.versions.node.split(".")[0]);

/** Prevents a syntax error from some dependency. */
export function refuseOldNode() {
  if (currentMajor() >= OLDEST_MAJOR) return;
  console.error(
    `Tandem needs Node ${OLDEST_MAJOR} or newer to start (it brings Node ${WANTED_MAJOR} itself); this is Node ${process.versions.node}. Install a newer Node from https://nodejs.org and try again.`,
  );
  process.exit(1);
}

/** One of Node's modules. An import reads all of its properties, which takes several milliseconds. */
export const builtin = (name) => process.getBuiltinModule?.(name) ?? import(name);
