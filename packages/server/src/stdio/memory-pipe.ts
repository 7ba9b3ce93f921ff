import { Duplex } from "node:stream";

/** One end of a connection that never leaves the process: as much of a socket as Node's HTTP asks for. */
class PipeEnd extends Duplex {
  /** Of the server's own process: for its log. */
  readonly remoteAddress = "stdio";
  bytesWritten = 0;
  other: PipeEnd | undefined;
  #taken: (() => void) | undefined;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.bytesWritten += chunk.length;
    if (!this.other || this.other.destroyed) return done();
    // What the other end has no room for, this end waits with: nobody's backlog grows.
    if (this.other.push(chunk)) done();
    else this.other.#taken = done;
  }

  override _read(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  override _final(done: () => void): void {
    if (this.other && !this.other.destroyed) this.other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { other } = this;
    this.other = undefined;
    this._read();
    // As a connection that was cut, unless it had been ended before.
    if (other && !other.destroyed) process.nextTick(() => other.destroy());
    done(error);
  }

  /** There is nobody who could fall silent on the way. */
  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
}

/** Both ends of one connection. */
export function memoryPipe(): [near: Duplex, far: Duplex] {
  const [near, far] = [new PipeEnd(), new PipeEnd()];
  near.other = far;
  far.other = near;
  return [near, far];
}
