/** One frame of a stream of server-sent events. */
export interface SseFrame {
  name: string;
  id: string | undefined;
  data: string;
}

/** Yields frames with data and skips comments such as heartbeats. A frame over the size limit breaks the stream. */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<SseFrame> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = frames.pop()!;
    if (rest.length > maxBytes) throw new Error("A frame is longer than a line may be.");
    for (const text of frames) {
      const frame = parse(text);
      if (frame.data !== "") yield frame;
    }
  }
}

function parse(text: string): SseFrame {
  const data: string[] = [];
  let name = "message";
  let id: string | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
    else if (line.startsWith("id:")) id = line.slice(3).trim();
    else if (line.startsWith("event:")) name = line.slice(6).trim();
  }
  return { name, id, data: data.join("\n") };
}
