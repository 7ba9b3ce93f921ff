/**
 * The name under which a tool is offered to the model. A script may name tools as the API does (`bash`, `web_fetch`, or a custom
 * tool by its own name); Claude Code offers `Bash`, `WebFetch` and `mcp__SERVER__NAME`.
 */
export function offeredName(name: string, offered: readonly string[]): string {
  if (offered.includes(name)) return name;
  const found = offered.filter((each) => plain(each) === plain(name) || each.endsWith(`__${name}`));
  return found.length === 1 ? found[0]! : name;
}

const plain = (name: string): string => name.toLowerCase().replaceAll("_", "");
