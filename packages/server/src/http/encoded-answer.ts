/** A response that is JSON already: events are stored as they are sent. */
export class EncodedAnswer {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}
