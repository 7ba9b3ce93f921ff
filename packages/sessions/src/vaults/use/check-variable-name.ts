import { RequestError } from "@tandem/protocol";

/** Rejects names that would change how programs in a sandbox run. */
export async function checkVariableName(name: string): Promise<void> {
  const { isReservedVariable } = await import("@tandem/claude-code");
  if (!isReservedVariable(name)) return;
  throw new RequestError(
    "invalid_request",
    `auth.secret_name: ${name} is reserved: Claude Code, a shell or the sandbox reads this variable.`,
    { fix: "Choose the name that your own program reads, such as EXAMPLE_API_KEY." },
  );
}
