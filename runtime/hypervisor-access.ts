/** How the hypervisor's API is reached. */
export interface HypervisorAccess {
  url: string
  /** `user@realm!tokenid=uuid` */
  token: string
  /** SHA-256 of the certificate that was agreed to; empty for one that an authority vouches for. */
  fingerprint: string
}
