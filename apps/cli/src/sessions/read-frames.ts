/** One frame of a stream of server-sent events. */
export interface Frame {
  id: string | undefined;
  data: string;
}

/** The frames that have data; comments, such as heartbeats, are passed over. */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = frames.pop()!;
    for (const text of frames) {
      const frame = parse(text);
      if (frame.data !== "") yield frame;
    }
  }
}

function parse(text: string): Frame {
  const data: string[] = [];
  let id: string | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
    else if (line.startsWith("id:")) id = line.slice(3).trim();
  }
  return { id, data: data.join("\n") };
}
