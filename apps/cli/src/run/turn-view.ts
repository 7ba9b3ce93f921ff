import type { Delta, SessionEvent } from "@tandem/protocol";

/** Whoever shows a turn while it goes on. */
export interface TurnView extends Disposable {
  event(event: SessionEvent): void;
  delta(delta: Delta): void;
  /** Something has to be asked on the terminal: hold still until the next event. */
  pause(): void;
}

export const silentView: TurnView = {
  event() {},
  delta() {},
  pause() {},
  [Symbol.dispose]() {},
};

/** Each event as a line of JSON. */
export const jsonLines = (stream: NodeJS.WriteStream): TurnView => ({
  ...silentView,
  event: (event) => void stream.write(`${JSON.stringify(event)}\n`),
});
