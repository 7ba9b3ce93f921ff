/** Records that all processes on a store share, of no context and no tenant. */
export const FLEET_SPACE = "fleet";
