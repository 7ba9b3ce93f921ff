import { Duplex } from "node:stream";

/** One end of an in-process connection, with the parts of a socket that Node's HTTP needs. */
class PipeEnd extends Duplex {
  /** The address in the access log. */
  readonly remoteAddress = "stdio";
  bytesWritten = 0;
  other: PipeEnd | undefined;
  #taken: (() => void) | undefined;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.bytesWritten += chunk.length;
    if (!this.other || this.other.destroyed) return done();
    // Wait while the other end is full (backpressure).
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
    // Destroying one end resets the other, unless it ended normally.
    if (other && !other.destroyed) process.nextTick(() => other.destroy());
    done(error);
  }

  /** An in-process connection needs no timeout. */
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
