/**
 * A worker without a database asks `/readyz` with this parameter whether this process could take its sessions over. A process of
 * a fleet that answers that it has no database promises to take no expired lease for the time of a lease.
 */
export const TAKEOVER_QUERY = "takeover";
