// The entry point `tandem-agent-server/emulator`.
export * from "@tandem/emulator";
export * from "@tandem/rehearsal";
