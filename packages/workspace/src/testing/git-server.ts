import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { git } from "../git/git.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface GitServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/shop.git`. */
  url: string;
  origin: string;
  /** The bare repository. */
  path: string;
  /** Credentials that arrived, decoded, in order; undefined for a request without any. */
  seen: (string | undefined)[];
}

/** A git server over HTTP on loopback that demands a token, run by git's own CGI program. */
export async function startGitServer(token: string): Promise<GitServer> {
  const folder = await temporaryFolder();
  const path = `${folder.path}/shop.git`;
  await git(folder.path, ["init", "--quiet", "--bare", "--initial-branch=main", path]);
  await git(folder.path, [`--git-dir=${path}`, "config", "http.receivepack", "true"]);
  const program = `${(await git(folder.path, ["--exec-path"])).trim()}/git-http-backend`;
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const given = basic === undefined ? undefined : Buffer.from(basic, "base64").toString();
    seen.push(given);
    if (given === `x-access-token:${token}`) runBackend(program, folder.path, request, response);
    else response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    url: `${origin}/shop.git`,
    origin,
    path,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await folder[Symbol.asyncDispose]();
    },
  };
}

function runBackend(program: string, root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://localhost");
  const child = spawn(program, {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "bot",
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers["content-type"],
      CONTENT_LENGTH: request.headers["content-length"],
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
      HTTP_GIT_PROTOCOL: request.headers["git-protocol"]?.toString(),
    },
  });
  request.pipe(child.stdin.on("error", () => {}));
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.once("close", () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf("\r\n\r\n");
    const headers = output
      .subarray(0, end)
      .toString()
      .split("\r\n")
      .map((line) => line.split(": ", 2) as [string, string]);
    const status = headers.find(([name]) => name === "Status")?.[1] ?? "200";
    response.writeHead(Number.parseInt(status), Object.fromEntries(headers.filter(([name]) => name !== "Status")));
    response.end(output.subarray(end + 4));
  });
}
