/**
 * A worker without a database asks `/readyz` with this parameter whether this process could take its sessions over. A process of
 * a fleet that answers that it has no database promises to take no expired lease for the time of a lease.
 */
export const TAKEOVER_QUERY = "takeover";

/**
 * A worker that has taken a session's expired lease asks its former holder with this parameter. The answer comes when that has no
 * process of the session any more. Without a token, because the former holder may have no database to check one.
 */
export const TAKEN_QUERY = "taken";
