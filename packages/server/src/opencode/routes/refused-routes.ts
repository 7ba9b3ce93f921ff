import type { OpencodeRoute } from "./opencode-route.ts";

type Method = OpencodeRoute["method"];

/** Calls of opencode's API that Tandem does not serve, by the start of their path, and the reason. */
export const REFUSED: readonly { methods: readonly Method[]; path: string; why: string }[] = [
  {
    methods: ["GET", "POST", "PUT", "DELETE"],
    path: "/pty",
    why: "Tandem has no terminals. Use `POST /session/:id/shell`.",
  },
  { methods: ["POST", "DELETE"], path: "/session/:session/share", why: "Tandem publishes no sessions." },
  { methods: ["POST"], path: "/session/:session/init", why: "Send the command `/init` instead." },
  {
    methods: ["DELETE"],
    path: "/session/:session/message/:message",
    why: "A log is append-only. Revert the session instead.",
  },
  {
    methods: ["PATCH", "DELETE"],
    path: "/session/:session/message/:message/part/:part",
    why: "A log is append-only. Revert the session instead.",
  },
  { methods: ["PATCH"], path: "/config", why: "Settings are in `tandem.yaml`." },
  { methods: ["PATCH"], path: "/global/config", why: "Settings are in `tandem.yaml`." },
  { methods: ["PUT", "DELETE"], path: "/auth/:provider", why: "Claude Code has its own login: `tandem login`." },
  { methods: ["POST"], path: "/provider/:provider/oauth", why: "Claude Code has its own login: `tandem login`." },
  {
    methods: ["POST", "PUT", "DELETE"],
    path: "/mcp",
    why: "MCP servers are set in `tandem.yaml`, on an agent or on a vault.",
  },
  { methods: ["GET", "POST", "DELETE"], path: "/experimental", why: "Experimental calls of opencode are not served." },
  { methods: ["GET", "POST"], path: "/tui", why: "Tandem does not control a client's screen." },
  { methods: ["POST"], path: "/log", why: "Tandem writes no logs for clients." },
  { methods: ["POST"], path: "/instance/dispose", why: "A client cannot stop the server." },
  { methods: ["POST"], path: "/global/dispose", why: "A client cannot stop the server." },
  { methods: ["POST"], path: "/global/upgrade", why: "Update Tandem with npm." },
  {
    methods: ["GET"],
    path: "/skill",
    why: "Skills are Claude Code's: `GET /command` lists those that a person may call.",
  },
  { methods: ["GET", "POST"], path: "/vcs", why: "Use `GET /session/:id/diff` for the changes of a session." },
  { methods: ["POST", "PATCH"], path: "/project", why: "Tandem has one project for all sessions." },
  { methods: ["GET"], path: "/find/symbol", why: "Tandem keeps no index of symbols." },
  { methods: ["GET", "POST", "DELETE"], path: "/sync", why: "Tandem's own log is the only copy of a session." },
  {
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    path: "/api",
    why: "Only version 1 of opencode's API is served.",
  },
];
