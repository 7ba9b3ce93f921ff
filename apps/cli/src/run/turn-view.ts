import type { Delta, SessionEvent } from "@tandem/protocol";

/** Displays a running turn. */
export interface TurnView extends Disposable {
  event(event: SessionEvent): void;
  delta(delta: Delta): void;
  /** Stops animating until the next event, because the terminal shows a question. */
  pause(): void;
}

export const silentView: TurnView = { event() {}, delta() {}, pause() {}, [Symbol.dispose]() {} };

/** Each event as a line of JSON. */
export const jsonLines = (stream: NodeJS.WriteStream): TurnView => ({
  ...silentView,
  event: (event) => void stream.write(`${JSON.stringify(event)}\n`),
});
