import { PROTOCOL_VERSION, type InitializeRequest, type InitializeResponse } from "@agentclientprotocol/sdk/unstable";

/** Answers `initialize` before anything else is loaded. */
export function initializeResponse({ clientCapabilities }: InitializeRequest, version: string): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "tandem", title: "Tandem", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true, audio: false },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {} },
    },
    authMethods: [
      {
        id: "claude-code",
        name: "Claude Code's own login or key",
        description: "Uses the credential that `tandem status` names. To log in: run `tandem login`.",
      },
      ...(clientCapabilities?.auth?.terminal
        ? [
            {
              type: "terminal" as const,
              id: "setup",
              name: "Set up Tandem",
              description: "Choose the backend and the credential.",
              args: ["--setup"],
            },
          ]
        : []),
    ],
  };
}
