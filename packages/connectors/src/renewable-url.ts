import { ConnectionError } from "./connection-error.ts";

/**
 * A server URL with a rotating password: if the server rejects the password, the URL is resolved again, once. Open
 * connections stay open.
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
      // If it cannot be resolved again, the server's original error is more useful.
      const renewed = await this.#renew?.().catch(() => url);
      if (renewed === undefined || renewed === url) throw error;
      const opened = await connect(renewed);
      this.#url = renewed;
      return opened;
    }
  }
}
