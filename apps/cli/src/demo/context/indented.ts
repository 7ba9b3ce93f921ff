const INDENT = "   ";

/** Indents the output of commands below the narration. */
export function indented(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  let isStart = true;
  const shifted = (text: string): string => {
    const lines = text
      .split("\n")
      .map((line, at) => (line === "" || (at === 0 && !isStart) ? line : `${INDENT}${line}`));
    isStart = text.endsWith("\n");
    return lines.join("\n");
  };
  const write = (chunk: string, ...rest: [((error?: Error | null) => void)?]) => stream.write(shifted(chunk), ...rest);
  return Object.create(stream, {
    write: { value: write },
    columns: { get: () => (stream.isTTY ? stream.columns - INDENT.length : undefined) },
  }) as NodeJS.WriteStream;
}
