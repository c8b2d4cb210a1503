/** Address and credentials of the hypervisor’s API. */
export interface HypervisorAccess {
  url: string
  /** `user@realm!tokenid=uuid` */
  token: string
  /** SHA-256 of the trusted certificate; empty when a certificate authority vouches for it. */
  fingerprint: string
}
