import { ConnectionError } from "./connection-error.ts";

/**
 * The address of a server, with a password that may change while we run: when the database refuses the one that we have, it
 * is read again, once. What is open already stays open.
 */
export class RenewableUrl {
  #url: string;
  readonly #renew: (() => Promise<string>) | undefined;

  constructor(url: string, renew?: () => Promise<string>) {
    this.#url = url;
    this.#renew = renew;
  }

  async open<T>(connect: (url: string) => Promise<T>): Promise<T> {
    const url = this.#url;
    try {
      return await connect(url);
    } catch (error) {
      if (!(error instanceof ConnectionError) || error.code !== "connection_refused") throw error;
      // Where it cannot be read, what the database said says more.
      const renewed = await this.#renew?.().catch(() => url);
      if (renewed === undefined || renewed === url) throw error;
      const opened = await connect(renewed);
      this.#url = renewed;
      return opened;
    }
  }
}
