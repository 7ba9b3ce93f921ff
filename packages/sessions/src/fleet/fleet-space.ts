/** Records shared by all processes on a store, outside any context and tenant. */
export const FLEET_SPACE = "fleet";
