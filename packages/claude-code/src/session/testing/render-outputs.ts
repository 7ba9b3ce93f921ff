import type { ConversationOutput } from "../conversation.ts";

/** Renders outputs as readable text, one line each, with the previews of an event joined. */
export function renderOutputs(outputs: readonly ConversationOutput[]): string {
  const lines: string[] = [];
  let preview: { of: string; pieces: string[] } | undefined;
  const finishPreview = (): void => {
    if (preview) lines.push(`    ~ ${preview.of} ${JSON.stringify(preview.pieces)}`);
    preview = undefined;
  };
  for (const output of outputs) {
    const piece = pieceOf(output);
    if (piece) {
      if (preview?.of !== piece.of) finishPreview();
      preview ??= { of: piece.of, pieces: [] };
      preview.pieces.push(piece.text);
      continue;
    }
    finishPreview();
    lines.push(renderOne(output));
  }
  finishPreview();
  return `${lines.join("\n")}\n`;
}

function pieceOf(output: ConversationOutput): { of: string; text: string } | undefined {
  if (output.type !== "delta") return undefined;
  const { delta } = output;
  switch (delta.type) {
    case "event_delta":
      return { of: `text of ${delta.event_id}`, text: delta.delta.content.text };
    case "tandem.thinking_delta":
      return { of: `thinking of ${delta.event_id}`, text: delta.text };
    case "tandem.tool_input_delta":
      return { of: `input of ${delta.event_id}`, text: delta.json };
    default:
      return undefined;
  }
}

function renderOne(output: ConversationOutput): string {
  switch (output.type) {
    case "event": {
      const { type, ...rest } = output.event;
      return `${output.thread ?? "primary"}  ${type}  ${output.id}  ${JSON.stringify(rest)}`;
    }
    case "delta":
      return `    ~ ${JSON.stringify(output.delta)}`;
    default: {
      const { type, ...rest } = output;
      return `--- ${type}  ${JSON.stringify(rest)}`;
    }
  }
}
