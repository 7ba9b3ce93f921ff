/** The SDK implements this request but does not declare it. */
type WithCancel = { cancelAsyncMessage(uuid: string): Promise<boolean> };
const canCancel = (query: object): query is WithCancel => "cancelAsyncMessage" in query;

/** Removes a message from Claude Code's queue. Returns whether it was still there. */
export const cancelMessage = async (query: object, uuid: string): Promise<boolean> =>
  canCancel(query) && (await query.cancelAsyncMessage(uuid));
