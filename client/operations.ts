// Written by `npm run client:types` from the service's OpenAPI document: not by hand.

/** Names an account that has signed in. */
export type AccountId = number

export type Application = {
  id: ApplicationId
  kind: 'community_script' | 'compose' | 'flatpak' | 'snap'
  name: string
  version: string | null
  available: string | null
  source: {
    address: string /** Of what was fetched last; null before the first time. */
    digest: ApplicationDigest | null /** Whether an administrator has agreed to this digest. */
    agreed: boolean /** The name of the account that has agreed to it; null where nobody has. */
    agreed_by: string | null
    agreed_at: string | null
  } | null /** Whether the panel can start an update of it. */
  updatable: boolean
}

export type ApplicationDigest = string

/** An application of one target: its kind, a colon, and the name that its program knows it by. */
export type ApplicationId = string

/** Names a channel. */
export type ChannelId = string

/** The result of a container in an upgrade of `all`: `done`, `failed`, or `warned`: upgraded without the newest lists of every repository. The upgrade skips a container that is `stopped`, a `template`, or stopped and `locked`. `waiting` applies until the job ends, and afterwards if the job ended before the container’s turn. */
export type ContainerResult = {
  vmid: Vmid
  name: string
  state: 'waiting' | 'done' | 'warned' | 'failed' | 'stopped' | 'template' | 'locked'
  exit_code: number | null
}

/** The state of a module’s deployment, with its messages so far. */
export type Deployment = {
  id: DeploymentId
  module: ModuleId
  state: 'building' | 'replacing' | 'restarting' | 'done' | 'failed' | 'rolled_back'
  log: Array<string>
  error: string | null
  started_at: string
  finished_at: string | null
}

/** Names the deployment of a module. */
export type DeploymentId = string

/** One rejected field of a request. */
export type Detail = { field: string; message: string }

export type Factor = {
  id: FactorId
  kind: 'totp' | 'passkey'
  name: string
  created_at: string
  last_used_at: string | null
}

/** Names a second factor. */
export type FactorId = number

/** The fingerprint of a host’s key, as `ssh-keygen -l` writes it. */
export type HostKey = string

/** Names a job. */
export type JobId = string

/** An installed module, or one of the panel’s own. */
export type Module = {
  id: ModuleId
  name: string
  description: string
  version: string
  is_core: 0 | 1
  is_enabled: 0 | 1
  nav_label: string | null
  nav_icon: string | null
  nav_href: string | null
  nav_order: number
  repository: string | null
  commit: string | null
  tag: string | null
  fault: string | null
  fault_at: string | null
  installed_at: string
  updated_at: string
  has_backend: boolean
  previous: { version: string; commit: string; tag: string | null } | null
}

/** The id of a module. */
export type ModuleId = string

/** Names a plan. */
export type PlanId = string

export type Protection = {
  before: 'auto' | 'snapshot' | 'backup' | 'none'
  backup_storage: string | null
  keep: number
  on_failure: 'rollback' | 'ask' | 'keep'
  settle_seconds: number
  probes: Array<
    | { kind: 'http'; url: string; status: number }
    | { kind: 'tcp'; port: number }
    | { kind: 'unit'; name: string }
    | { kind: 'command'; command: Array<string> }
  >
}

/** Names a run: several plans that were started together. */
export type RunId = string

/** Names a schedule. */
export type ScheduleId = string

/** Names a run of a schedule. */
export type ScheduleRunId = string

/** Names a session. */
export type SessionId = number

/** `host`, `lxc:<id>` for one container, `all` for every container. */
export type Target = string

/** The UPID of the hypervisor’s task, or the id of the job, that an action on a container has started. */
export type TaskId = string

/** Names an API token. It is no secret. */
export type TokenId = number

/** The number of a container. */
export type Vmid = number

/** The error codes of every operation. */
export type AnyCode =
  | 'answer_too_large'
  | 'headers_too_large'
  | 'internal'
  | 'malformed_http'
  | 'not_configured'
  | 'request_timeout'
  | 'storage_failed'

/** The request, the response and the error codes of each operation. */
export interface Operations {
  /** Public keys */
  'GET /.well-known/jwks.json': {
    answer: { keys: Array<{ kty: 'RSA'; n: string; e: string; kid: string; alg: 'RS256'; use: 'sig' }> }
    code: AnyCode
  }
  /** The WebSockets */
  'GET /api/asyncapi.json': {
    answer: { asyncapi: string }
    code: 'rate_limited' | AnyCode
  }
  /** The audit log */
  'GET /api/audit': {
    query?: {
      action?:
        | 'access_refused'
        | 'login_rate_limited'
        | 'login_failed'
        | 'login_asked'
        | 'login_success'
        | 'proof_refused'
        | 'logout'
        | 'session_revoked'
        | 'sessions_ended'
        | 'account_ended'
        | 'rights_changed'
        | 'keys_rotated'
        | 'account_barred'
        | 'account_unbarred'
        | 'audit_exported'
        | 'factor_add'
        | 'factor_refused'
        | 'factor_remove'
        | 'factors_reset'
        | 'recovery_codes_made'
        | 'step_up'
        | 'step_up_refused'
        | 'token_created'
        | 'token_revoked'
        | 'host_key_changed'
        | 'settings_changed'
        | 'ssh_key_rotated'
        | 'installed'
        | 'enrolment_link_made'
        | 'enrolment_link_used'
        | 'plan_choice'
        | 'update_start'
        | 'protection_change'
        | 'update_rollback'
        | 'update_keep'
        | 'snapshot_delete'
        | 'update_end'
        | 'update_cancel'
        | 'check_start'
        | 'remedy_start'
        | 'container_start'
        | 'container_stop'
        | 'container_shutdown'
        | 'container_reboot'
        | 'channel_create'
        | 'channel_change'
        | 'channel_delete'
        | 'channel_test'
        | 'restart_start'
        | 'host_reboot'
        | 'schedule_create'
        | 'schedule_change'
        | 'schedule_delete'
        | 'schedule_run'
        | 'schedule_cancel'
        | 'schedule_pause_all'
        | 'application_agree'
        | 'application_start'
        | 'application_withdraw'
        | 'terminal_open'
        | 'terminal_close'
        | 'module_installed'
        | 'module_enabled'
        | 'module_disabled'
        | 'module_removed'
        | 'module_taken_back'
        | 'module_settings_changed'
        | 'module_action'
        | 'module_taken_out'
      user?: string
      target?: string /** A time with its zone (RFC 3339). */
      from?: string /** A time with its zone (RFC 3339). */
      until?: string
      limit?: number
      before?: number
    }
    answer: {
      entries: Array<{
        id: number
        at: string
        action: string
        username: string | null
        target: string | null
        ip: string
        details: Record<string, string | number | boolean | null> | null
      }>
      next: number | null
    }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_request'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Export the audit log */
  'GET /api/audit/export': {
    query?: {
      action?:
        | 'access_refused'
        | 'login_rate_limited'
        | 'login_failed'
        | 'login_asked'
        | 'login_success'
        | 'proof_refused'
        | 'logout'
        | 'session_revoked'
        | 'sessions_ended'
        | 'account_ended'
        | 'rights_changed'
        | 'keys_rotated'
        | 'account_barred'
        | 'account_unbarred'
        | 'audit_exported'
        | 'factor_add'
        | 'factor_refused'
        | 'factor_remove'
        | 'factors_reset'
        | 'recovery_codes_made'
        | 'step_up'
        | 'step_up_refused'
        | 'token_created'
        | 'token_revoked'
        | 'host_key_changed'
        | 'settings_changed'
        | 'ssh_key_rotated'
        | 'installed'
        | 'enrolment_link_made'
        | 'enrolment_link_used'
        | 'plan_choice'
        | 'update_start'
        | 'protection_change'
        | 'update_rollback'
        | 'update_keep'
        | 'snapshot_delete'
        | 'update_end'
        | 'update_cancel'
        | 'check_start'
        | 'remedy_start'
        | 'container_start'
        | 'container_stop'
        | 'container_shutdown'
        | 'container_reboot'
        | 'channel_create'
        | 'channel_change'
        | 'channel_delete'
        | 'channel_test'
        | 'restart_start'
        | 'host_reboot'
        | 'schedule_create'
        | 'schedule_change'
        | 'schedule_delete'
        | 'schedule_run'
        | 'schedule_cancel'
        | 'schedule_pause_all'
        | 'application_agree'
        | 'application_start'
        | 'application_withdraw'
        | 'terminal_open'
        | 'terminal_close'
        | 'module_installed'
        | 'module_enabled'
        | 'module_disabled'
        | 'module_removed'
        | 'module_taken_back'
        | 'module_settings_changed'
        | 'module_action'
        | 'module_taken_out'
      user?: string
      target?: string /** A time with its zone (RFC 3339). */
      from?: string /** A time with its zone (RFC 3339). */
      until?: string
      format?: 'jsonl' | 'csv'
    }
    answer: string
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_request'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Add a passkey by a link of the console */
  'POST /api/auth/enrol': {
    body: {
      /** The code of the link. */ code: string
      name: string /** The new credential, as `toJSON` of the browser writes it. */
      response: {
        id: string
        rawId: string
        type: 'public-key'
        response: {
          clientDataJSON: string
          attestationObject: string
          transports?: Array<string>
        } /** The outputs of extensions; they are not read. */
        clientExtensionResults?: Record<string, unknown>
      }
    }
    answer: {
      factor: Factor /** Ten codes, each of which replaces a factor once. They are shown now and never again. */
      recovery_codes?: Array<string>
      username: string
    }
    code:
      | 'account_barred'
      | 'body_too_large'
      | 'challenge_over'
      | 'factors_full'
      | 'host_account_missing'
      | 'host_silent'
      | 'invalid_json'
      | 'invalid_request'
      | 'login_rate_limited'
      | 'origin_forbidden'
      | 'passkey_invalid'
      | 'passkey_known'
      | 'passkey_sign_in_off'
      | 'passkeys_need_name'
      | AnyCode
  }
  /** Begin with a passkey by a link of the console */
  'POST /api/auth/enrol/options': {
    body: {
      /** The code of the link. */ code: string
    }
    answer: {
      username: string
      options: {
        rp: { id: string; name: string }
        user: { id: string; name: string; displayName: string }
        challenge: string
        pubKeyCredParams: Array<{ type: 'public-key'; alg: number }>
        timeout: number
        attestation: 'none'
        excludeCredentials: Array<{ type: 'public-key'; id: string; transports: Array<string> }>
        authenticatorSelection: {
          residentKey: 'preferred' | 'required'
          requireResidentKey: boolean
          userVerification: 'required'
        }
      }
    }
    code:
      | 'account_barred'
      | 'body_too_large'
      | 'challenge_over'
      | 'host_account_missing'
      | 'host_silent'
      | 'invalid_json'
      | 'invalid_request'
      | 'login_rate_limited'
      | 'origin_forbidden'
      | 'passkey_sign_in_off'
      | 'passkeys_need_name'
      | AnyCode
  }
  /** The caller’s second factors */
  'GET /api/auth/factors': {
    answer: { factors: Array<Factor>; recovery_codes_left: number; required: boolean }
    code: 'forbidden' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Remove a second factor */
  'DELETE /api/auth/factors/{id}': {
    params: { id: FactorId }
    answer: { message: string }
    code:
      | 'enrolment_required'
      | 'factor_missing'
      | 'factor_needed'
      | 'forbidden'
      | 'rate_limited'
      | 'step_up_required'
      | 'unauthenticated'
      | AnyCode
  }
  /** Add a passkey */
  'POST /api/auth/factors/passkeys': {
    body: {
      /** The challenge that is answered. */ challenge: string
      name: string /** The new credential, as `toJSON` of the browser writes it. */
      response: {
        id: string
        rawId: string
        type: 'public-key'
        response: {
          clientDataJSON: string
          attestationObject: string
          transports?: Array<string>
        } /** The outputs of extensions; they are not read. */
        clientExtensionResults?: Record<string, unknown>
      }
    }
    answer: {
      factor: Factor /** Ten codes, each of which replaces a factor once. They are shown now and never again. */
      recovery_codes?: Array<string>
    }
    code:
      | 'body_too_large'
      | 'challenge_over'
      | 'factors_full'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'passkey_invalid'
      | 'passkey_known'
      | 'rate_limited'
      | 'step_up_required'
      | 'unauthenticated'
      | AnyCode
  }
  /** Begin with a passkey */
  'POST /api/auth/factors/passkeys/options': {
    answer: {
      /** The challenge that is answered. */ challenge: string
      options: {
        rp: { id: string; name: string }
        user: { id: string; name: string; displayName: string }
        challenge: string
        pubKeyCredParams: Array<{ type: 'public-key'; alg: number }>
        timeout: number
        attestation: 'none'
        excludeCredentials: Array<{ type: 'public-key'; id: string; transports: Array<string> }>
        authenticatorSelection: {
          residentKey: 'preferred' | 'required'
          requireResidentKey: boolean
          userVerification: 'required'
        }
      }
    }
    code:
      | 'factors_full'
      | 'forbidden'
      | 'passkeys_need_name'
      | 'rate_limited'
      | 'step_up_required'
      | 'unauthenticated'
      | AnyCode
  }
  /** Replace the recovery codes */
  'POST /api/auth/factors/recovery': {
    answer: {
      /** Ten codes, each of which replaces a factor once. They are shown now and never again. */
      recovery_codes: Array<string>
    }
    code:
      | 'enrolment_required'
      | 'factor_missing'
      | 'forbidden'
      | 'rate_limited'
      | 'step_up_required'
      | 'unauthenticated'
      | AnyCode
  }
  /** Begin with an authenticator */
  'POST /api/auth/factors/totp': {
    body: { name: string }
    answer: {
      /** In base32. */ secret: string /** An `otpauth:` address. */
      uri: string /** The challenge that is answered. */
      challenge: string
    }
    code:
      | 'body_too_large'
      | 'factors_full'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'step_up_required'
      | 'unauthenticated'
      | AnyCode
  }
  /** Add an authenticator */
  'POST /api/auth/factors/totp/confirm': {
    body: {
      /** The challenge that is answered. */ challenge: string /** Six digits. */
      code: string
    }
    answer: {
      factor: Factor /** Ten codes, each of which replaces a factor once. They are shown now and never again. */
      recovery_codes?: Array<string>
    }
    code:
      | 'body_too_large'
      | 'challenge_over'
      | 'factor_wrong'
      | 'factors_full'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'step_up_required'
      | 'unauthenticated'
      | AnyCode
  }
  /** Sign in */
  'POST /api/auth/login': {
    body: { username: string; password: string }
    answer: { access_token: string; expires_in: 900; user: { id: number; username: string; is_admin: boolean } }
    code:
      | 'account_barred'
      | 'bad_credentials'
      | 'body_too_large'
      | 'credentials_missing'
      | 'factor_required'
      | 'host_key_changed'
      | 'invalid_json'
      | 'login_busy'
      | 'login_rate_limited'
      | 'more_asked'
      | 'not_invited'
      | 'origin_forbidden'
      | 'password_expired'
      | 'passwords_not_taken'
      | 'prompts_impossible'
      | 'rights_unknown'
      | 'ssh_host_missing'
      | 'ssh_throttled'
      | 'ssh_unreachable'
      | AnyCode
  }
  /** Go on with a sign-in */
  'POST /api/auth/login/answers': {
    body:
      | {
          /** The challenge that is answered. */ challenge: string
          factor: 'totp' | 'recovery' /** The code. */
          answers: Array<string>
        }
      | {
          /** The challenge that is answered. */ challenge: string
          factor: 'passkey' /** The assertion, as `toJSON` of the browser writes it. */
          assertion: {
            id: string
            rawId: string
            type: 'public-key'
            response: {
              clientDataJSON: string
              authenticatorData: string
              signature: string
              userHandle?: string | null
            } /** The outputs of extensions; they are not read. */
            clientExtensionResults?: Record<string, unknown>
          }
        }
      | {
          /** The challenge that `more_asked` told. */
          challenge: string /** One answer for each prompt, in their order. */
          answers: Array<string>
        }
    answer: { access_token: string; expires_in: 900; user: { id: number; username: string; is_admin: boolean } }
    code:
      | 'account_barred'
      | 'answers_miscounted'
      | 'answers_refused'
      | 'bad_credentials'
      | 'body_too_large'
      | 'challenge_elsewhere'
      | 'challenge_over'
      | 'factor_locked'
      | 'factor_required'
      | 'factor_wrong'
      | 'host_key_changed'
      | 'invalid_json'
      | 'invalid_request'
      | 'login_busy'
      | 'login_rate_limited'
      | 'more_asked'
      | 'not_invited'
      | 'origin_forbidden'
      | 'password_expired'
      | 'passwords_not_taken'
      | 'prompts_impossible'
      | 'rights_unknown'
      | 'ssh_host_missing'
      | 'ssh_throttled'
      | 'ssh_unreachable'
      | AnyCode
  }
  /** Whether a passkey signs in */
  'GET /api/auth/login/passkey': {
    answer: { enabled: boolean }
    code: 'rate_limited' | AnyCode
  }
  /** Sign in by passkey */
  'POST /api/auth/login/passkey': {
    body: {
      /** The challenge that is answered. */
      challenge: string /** The assertion, as `toJSON` of the browser writes it. */
      response: {
        id: string
        rawId: string
        type: 'public-key'
        response: {
          clientDataJSON: string
          authenticatorData: string
          signature: string
          userHandle?: string | null
        } /** The outputs of extensions; they are not read. */
        clientExtensionResults?: Record<string, unknown>
      }
    }
    answer: { access_token: string; expires_in: 900; user: { id: number; username: string; is_admin: boolean } }
    code:
      | 'account_barred'
      | 'account_kept_out'
      | 'account_unusable'
      | 'body_too_large'
      | 'challenge_over'
      | 'factor_locked'
      | 'host_silent'
      | 'invalid_json'
      | 'invalid_request'
      | 'login_rate_limited'
      | 'not_invited'
      | 'origin_forbidden'
      | 'passkey_refused'
      | 'passkey_sign_in_off'
      | 'rights_unknown'
      | AnyCode
  }
  /** Begin to sign in by passkey */
  'POST /api/auth/login/passkey/options': {
    answer: {
      /** The challenge that is answered. */ challenge: string
      options: {
        rpId: string
        challenge: string
        timeout: number
        userVerification: 'required'
        allowCredentials: Array<{ type: 'public-key'; id: string; transports: Array<string> }>
      }
    }
    code: 'login_rate_limited' | 'origin_forbidden' | 'passkey_sign_in_off' | 'passkeys_need_name' | AnyCode
  }
  /** Sign out */
  'POST /api/auth/logout': {
    answer: { message: string }
    code: AnyCode
  }
  /** The signed-in user */
  'GET /api/auth/me': {
    answer: {
      id: number
      username: string
      is_admin: boolean
      role: 'viewer' | 'operator' | 'admin' /** The targets that an operator may work on, where these are not all. */
      operates?: Array<string> /** Whether the caller must first add a second factor. */
      must_enrol?: true
      lang: string
      theme: string
      sidebar_position: string
      last_login_at?: string
    }
    code: 'profile_missing' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** The provider by which people sign in */
  'GET /api/auth/oidc': {
    answer: { name: string | null }
    code: 'rate_limited' | AnyCode
  }
  /** Begin a sign-in by OpenID Connect */
  'POST /api/auth/oidc': {
    answer: { url: string /** The challenge that is answered. */; challenge: string }
    code: 'not_found' | 'oidc_unreachable' | 'rate_limited' | AnyCode
  }
  /** End a sign-in by OpenID Connect */
  'POST /api/auth/oidc/answer': {
    body: {
      /** The challenge that is answered. */
      challenge: string /** The query of the address, such as `?code=…&state=…`. */
      answer: string
    }
    answer: { access_token: string; expires_in: 900; user: { id: number; username: string; is_admin: boolean } }
    code:
      | 'account_barred'
      | 'account_kept_out'
      | 'account_unusable'
      | 'body_too_large'
      | 'challenge_over'
      | 'factor_required'
      | 'host_silent'
      | 'invalid_json'
      | 'invalid_request'
      | 'not_found'
      | 'not_invited'
      | 'oidc_denied'
      | 'oidc_invalid'
      | 'oidc_unreachable'
      | 'origin_forbidden'
      | 'rate_limited'
      | 'rights_unknown'
      | AnyCode
  }
  /** The caller’s preferences */
  'GET /api/auth/preferences': {
    answer: { lang: string; theme: string; sidebar_position: string; chosen: boolean }
    code: 'forbidden' | 'profile_missing' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Change preferences */
  'PATCH /api/auth/preferences': {
    body: { lang?: 'fr' | 'en'; theme?: 'dark' | 'light'; sidebar_position?: 'left' | 'right' }
    answer: { message: string }
    code:
      | 'body_too_large'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'preference_invalid'
      | 'profile_missing'
      | 'rate_limited'
      | 'unauthenticated'
      | AnyCode
  }
  /** Renew the access token */
  'POST /api/auth/refresh': {
    answer: { access_token: string; expires_in: 900 }
    code: 'rate_limited' | 'refresh_invalid' | 'refresh_missing' | 'session_ended' | 'user_missing' | AnyCode
  }
  /** The caller’s sessions */
  'GET /api/auth/sessions': {
    answer: Array<{
      id: SessionId
      user_agent: string
      ip: string
      created_at: string
      last_used_at: string | null
      expires_at: string
      is_current: boolean
    }>
    code: 'forbidden' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** End a session */
  'DELETE /api/auth/sessions/{id}': {
    params: { id: SessionId }
    answer: { message: string }
    code: 'forbidden' | 'rate_limited' | 'session_missing' | 'unauthenticated' | AnyCode
  }
  /** Prove again who the caller is */
  'POST /api/auth/step-up': {
    body:
      | { factor: 'totp' | 'recovery' /** The code. */; answers: Array<string> }
      | {
          /** The challenge that is answered. */ challenge: string
          factor?: 'passkey' /** The assertion, as `toJSON` of the browser writes it. */
          assertion: {
            id: string
            rawId: string
            type: 'public-key'
            response: {
              clientDataJSON: string
              authenticatorData: string
              signature: string
              userHandle?: string | null
            } /** The outputs of extensions; they are not read. */
            clientExtensionResults?: Record<string, unknown>
          }
        }
      | {
          /** The challenge that `more_asked` told. */
          challenge: string /** One answer for each prompt, in their order. */
          answers: Array<string>
        }
      | {
          /** The caller’s own password, as proof. */ password?: string
        }
    answer: { access_token: string; expires_in: 900 }
    code:
      | 'answers_miscounted'
      | 'body_too_large'
      | 'challenge_elsewhere'
      | 'challenge_over'
      | 'factor_locked'
      | 'factor_proof_required'
      | 'factor_wrong'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'login_busy'
      | 'login_rate_limited'
      | 'proof_impossible'
      | 'proof_more_asked'
      | 'proof_required'
      | 'proof_wrong'
      | 'rate_limited'
      | 'session_ended'
      | 'unauthenticated'
      | 'user_missing'
      | AnyCode
  }
  /** API tokens */
  'GET /api/auth/tokens': {
    query?: { all?: 'true' | 'false' }
    answer: Array<{
      id: TokenId /** Its owner. */
      username: string
      name: string
      role: 'viewer' | 'operator' | 'admin'
      targets:
        | 'all'
        | Array<string> /** The lesser of its own role and that of its owner; null for a token that is refused, because it has expired, its owner is barred, or the host does not confirm the owner. */
      effective_role: 'viewer' | 'operator' | 'admin' | null
      created_at: string
      expires_at: string | null /** To the minute. */
      last_used_at: string | null
      last_ip: string | null
    }>
    code: 'enrolment_required' | 'forbidden' | 'invalid_request' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Make an API token */
  'POST /api/auth/tokens': {
    body: {
      name: string
      role: 'viewer' | 'operator' | 'admin' /** The targets that it reads and works on: all, or these only. */
      targets: 'all' | Array<string>
      expires_in_days?: number /** At most 400 days from now; null for a token that never expires. */
      expires_at?: string | null
    }
    answer: {
      id: TokenId /** Its owner. */
      username: string
      name: string
      role: 'viewer' | 'operator' | 'admin'
      targets:
        | 'all'
        | Array<string> /** The lesser of its own role and that of its owner; null for a token that is refused, because it has expired, its owner is barred, or the host does not confirm the owner. */
      effective_role: 'viewer' | 'operator' | 'admin' | null
      created_at: string
      expires_at: string | null /** To the minute. */
      last_used_at: string | null
      last_ip: string | null /** Shown once: the service stores its hash. */
      token: string
    }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'step_up_required'
      | 'token_exceeds'
      | 'token_expiry_invalid'
      | 'tokens_full'
      | 'unauthenticated'
      | AnyCode
  }
  /** Revoke an API token */
  'DELETE /api/auth/tokens/{id}': {
    params: { id: TokenId }
    answer: { message: string }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'step_up_required'
      | 'token_missing'
      | 'unauthenticated'
      | AnyCode
  }
  /** Everybody who has signed in */
  'GET /api/auth/users': {
    query?: { limit?: number /** The `next` of the page before. */; after?: string }
    answer: {
      users: Array<{
        id: AccountId
        username: string
        role: 'viewer' | 'operator' | 'admin' /** The targets that it works on; none for a viewer. */
        operates: 'all' | Array<string>
        last_login_at: string | null /** When the host last confirmed the account and its rights. */
        rights_at: string | null
        sessions: number
        tokens: number
        factors: { totp: number; passkeys: number; recovery_codes: number }
        barred_at: string | null
        barred_by: string | null
      }>
      next: string | null
    }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_request'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Lift the bar of an account */
  'DELETE /api/auth/users/{id}/bar': {
    params: { id: AccountId }
    answer: { message: string }
    code:
      | 'account_unknown'
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Bar an account */
  'PUT /api/auth/users/{id}/bar': {
    params: { id: AccountId }
    answer: { message: string }
    code:
      | 'account_unknown'
      | 'bar_self'
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** End all sessions of an account */
  'DELETE /api/auth/users/{id}/sessions': {
    params: { id: AccountId }
    answer: { ended: number; message: string }
    code:
      | 'account_unknown'
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The sessions of an account */
  'GET /api/auth/users/{id}/sessions': {
    params: { id: AccountId }
    answer: Array<{
      id: SessionId
      user_agent: string
      ip: string
      created_at: string
      last_used_at: string | null
      expires_at: string
      proven_at: string
      proven_by: 'password' | 'host' | 'totp' | 'passkey' | 'recovery' | 'oidc'
    }>
    code:
      | 'account_unknown'
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** End a session of an account */
  'DELETE /api/auth/users/{id}/sessions/{session}': {
    params: { id: AccountId; session: SessionId }
    answer: { message: string }
    code:
      | 'account_unknown'
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'session_missing'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The caller’s dashboard */
  'GET /api/dashboard/layout': {
    answer: Record<string, unknown>
    code: 'enrolment_required' | 'forbidden' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Store the caller’s dashboard */
  'PUT /api/dashboard/layout': {
    body: Record<string, unknown>
    answer: { message: string }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'profile_missing'
      | 'rate_limited'
      | 'unauthenticated'
      | AnyCode
  }
  /** The documentation page */
  'GET /api/docs': {
    answer: string
    code: 'rate_limited' | AnyCode
  }
  /** A file of the documentation page */
  'GET /api/docs/{file}': {
    params: { file: 'docs.css' | 'docs.js' | 'swagger-ui.css' | 'swagger-ui.js' }
    query?: { v?: string }
    answer: string
    code: 'not_found' | 'rate_limited' | AnyCode
  }
  /** The health of the service */
  'GET /api/health': {
    answer: { status: 'ok' | 'degraded'; version: string; boot_id: string; started_at: string }
    code: AnyCode
  }
  /** Containers */
  'GET /api/hypervisor/containers': {
    answer: Array<{
      vmid: Vmid
      name: string
      status: string
      lock: string | null
      cpu: number | null
      cpus: number | null
      mem: number | null
      maxmem: number | null
      disk: number | null
      maxdisk: number | null
      uptime: number | null
      tags: Array<string> | null
    }>
    code:
      | 'container_locked'
      | 'enrolment_required'
      | 'host_answer_too_long'
      | 'hypervisor_certificate'
      | 'hypervisor_forbidden'
      | 'hypervisor_in_clear'
      | 'hypervisor_node_unknown'
      | 'hypervisor_refused'
      | 'hypervisor_token_unreadable'
      | 'hypervisor_unauthorized'
      | 'hypervisor_unreachable'
      | 'hypervisor_unreadable'
      | 'rate_limited'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'unauthenticated'
      | AnyCode
  }
  /** Start or stop a container */
  'POST /api/hypervisor/containers/{vmid}/{action}': {
    params: { vmid: Vmid; action: 'start' | 'stop' | 'shutdown' | 'reboot' }
    answer: { task: TaskId; message: string }
    code:
      | 'account_kept_out'
      | 'container_locked'
      | 'container_missing'
      | 'enrolment_required'
      | 'forbidden'
      | 'host_answer_too_long'
      | 'hypervisor_certificate'
      | 'hypervisor_forbidden'
      | 'hypervisor_in_clear'
      | 'hypervisor_node_unknown'
      | 'hypervisor_refused'
      | 'hypervisor_token_unreadable'
      | 'hypervisor_unauthorized'
      | 'hypervisor_unreachable'
      | 'hypervisor_unreadable'
      | 'not_found'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The host */
  'GET /api/hypervisor/host': {
    answer: {
      hostname: string
      os: string
      kernel: string
      uptime: number
      load: [number, number, number]
      cpus: number
      mem: number
      maxmem: number
      disk: number
      maxdisk: number
      reboot_required: boolean
      reboot_reasons: Array<string>
      boot_id: string
      dpkg_broken: boolean
    }
    code:
      | 'enrolment_required'
      | 'host_answer_too_long'
      | 'rate_limited'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Reboot the host */
  'POST /api/hypervisor/host/reboot': {
    body: { confirm: string }
    answer: { job_id: JobId; message: string }
    code:
      | 'backup_running'
      | 'body_too_large'
      | 'confirm_invalid'
      | 'enrolment_required'
      | 'forbidden'
      | 'host_answer_too_long'
      | 'invalid_json'
      | 'invalid_request'
      | 'jobs_running'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The state of a container’s task */
  'GET /api/hypervisor/tasks/{task}': {
    params: { task: TaskId }
    answer: { status: 'running' | 'stopped'; exit_status: string | null; log: Array<string> }
    code:
      | 'container_locked'
      | 'enrolment_required'
      | 'forbidden'
      | 'hypervisor_certificate'
      | 'hypervisor_forbidden'
      | 'hypervisor_in_clear'
      | 'hypervisor_node_unknown'
      | 'hypervisor_refused'
      | 'hypervisor_token_unreadable'
      | 'hypervisor_unauthorized'
      | 'hypervisor_unreachable'
      | 'hypervisor_unreadable'
      | 'job_missing'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Install the service */
  'POST /api/install': {
    body:
      | {
          setup_token?: string
          ssh_host: string
          ssh_username: string /** How the service account signs in: by its password, or by the key that the wizard has made. */
          auth?: 'password' | 'key' /** The password of the service account. */
          ssh_password: string
          ssh_host_key: HostKey
          hypervisor_url?: string
          hypervisor_token?: string
        }
      | {
          setup_token?: string
          ssh_host: string
          ssh_username: string
          auth: 'key' /** The password of the service account. With a key it may be empty; sudo and hosts that refuse the key get it. */
          ssh_password?: string
          ssh_host_key: HostKey
          hypervisor_url?: string
          hypervisor_token?: string
        }
    answer: { message: string }
    code:
      | 'already_installed'
      | 'body_too_large'
      | 'host_check_failed'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'setup_token_wrong'
      | 'ssh_key_missing'
      | 'target_invalid'
      | AnyCode
  }
  /** Check a host */
  'POST /api/install/check': {
    body:
      | {
          setup_token?: string
          ssh_host: string
          ssh_username: string /** How the service account signs in: by its password, or by the key that the wizard has made. */
          auth?: 'password' | 'key' /** The password of the service account. */
          ssh_password: string
        }
      | {
          setup_token?: string
          ssh_host: string
          ssh_username: string
          auth: 'key' /** The password of the service account. With a key it may be empty; sudo and hosts that refuse the key get it. */
          ssh_password?: string
        }
    answer: {
      ssh_host_key: HostKey | ''
      checks: Array<{
        id: 'reachable' | 'authenticated' | 'elevation' | 'apt' | 'container_tool' | 'penalties'
        ok: boolean
        message: string
      }>
    }
    code:
      | 'already_installed'
      | 'body_too_large'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'setup_token_wrong'
      | 'ssh_key_missing'
      | 'target_invalid'
      | AnyCode
  }
  /** Make the service account’s key */
  'POST /api/install/key': {
    body: { setup_token?: string }
    answer: {
      ssh_public_key: string /** The line for `authorized_keys`. */
      authorized_key: string
      parts: Array<{
        text: string
        message: string /** The line does not have this part; it may be added. */
        optional: boolean
      }>
    }
    code:
      | 'already_installed'
      | 'body_too_large'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'setup_token_wrong'
      | AnyCode
  }
  /** The state of the installation */
  'GET /api/install/status': {
    answer: { installed: boolean }
    code: 'rate_limited' | AnyCode
  }
  /** The page of a module */
  'GET /api/module-pages/{id}': {
    params: { id: ModuleId }
    answer: {
      id: ModuleId
      name: string
      title: { fr: string; en: string } | null
      sections: Array<
        | {
            kind: 'table'
            title: { fr: string; en: string } | null
            from: string
            refresh: number | null
            rows: string
            key: string
            columns: Array<{
              field: string
              label: { fr: string; en: string }
              as: 'text' | 'number' | 'bytes' | 'time' | 'duration' | 'status' | 'code' | 'link'
            }>
            actions: Array<{
              label: { fr: string; en: string }
              call: string
              params: Array<string>
              body: Array<string> | null
              confirm: { fr: string; en: string } | null
              danger: boolean
            }>
            empty: { fr: string; en: string } | null
          }
        | {
            kind: 'facts'
            title: { fr: string; en: string } | null
            from: string
            refresh: number | null
            fields: Array<{
              field: string
              label: { fr: string; en: string }
              as: 'text' | 'number' | 'bytes' | 'time' | 'duration' | 'status' | 'code' | 'link'
            }>
          }
        | {
            kind: 'form'
            title: { fr: string; en: string } | null
            call: string
            from: string | null
            submit: { fr: string; en: string } | null
            fields: Array<{
              name: string
              label: { fr: string; en: string }
              help: { fr: string; en: string } | null
              as: 'text' | 'password' | 'number' | 'checkbox' | 'choice' | 'textarea'
              required: boolean
              nullable: boolean
              empty: boolean
              whole: boolean
              min: number | null
              max: number | null
              choices: Array<string | number>
              initial: string | number | boolean | null
            }>
          }
        | {
            kind: 'action'
            label: { fr: string; en: string }
            help: { fr: string; en: string } | null
            call: string
            body: boolean
            confirm: { fr: string; en: string } | null
            danger: boolean
          }
        | { kind: 'text'; text: { fr: string; en: string } }
      >
      frame: string | null
      calls: Array<string>
    }
    code: 'enrolment_required' | 'module_page_missing' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Modules */
  'GET /api/modules': {
    answer: Array<Module>
    code: 'enrolment_required' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Disable a module */
  'POST /api/modules/{id}/disable': {
    params: { id: ModuleId }
    answer: { message: string; restart: boolean; deployment: DeploymentId | null }
    code:
      | 'core_module'
      | 'enrolment_required'
      | 'forbidden'
      | 'module_busy'
      | 'module_missing'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Enable a module */
  'POST /api/modules/{id}/enable': {
    params: { id: ModuleId }
    answer: { message: string; restart: boolean; deployment: DeploymentId | null }
    code:
      | 'core_module'
      | 'deployer_missing'
      | 'deployment_busy'
      | 'enrolment_required'
      | 'forbidden'
      | 'module_busy'
      | 'module_missing'
      | 'modules_folder_unusable'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Channels of notifications */
  'GET /api/notifications/channels': {
    answer: {
      channels: Array<{
        id: ChannelId
        name: string
        kind: 'email' | 'ntfy' | 'gotify' | 'webhook' | 'apprise' | 'matrix'
        settings: {
          host?: string
          port?: number
          security?: 'none' | 'starttls' | 'tls'
          username?: string
          from?: string
          to?: Array<string> /** Of a webhook without its query and the parts of its path that may be tokens: `…` stands for them. */
          url?: string
          topic?: string
          room?: string
          allow_self_signed: boolean
          password_set?: boolean
          token_set?: boolean
          secret_set?: boolean
          key_set?: boolean
        }
        events: Array<
          | 'updates_available'
          | 'security_updates_available'
          | 'upgrade_done'
          | 'upgrade_failed'
          | 'regressed'
          | 'rolled_back'
          | 'rollback_failed'
          | 'reboot_required'
          | 'schedule_missed'
          | 'schedule_stopped'
          | 'check_failed'
          | 'host_unreachable'
          | 'sign_in_from_new_address'
          | 'settings_changed'
          | 'disk_low'
          | 'module_taken_out'
        >
        targets: 'all' | Array<string>
        minimum: 'info' | 'warning' | 'critical'
        quiet: { from: string; to: string; timezone: string } | null
        language: 'fr' | 'en'
        output: boolean
        enabled: boolean /** The newest attempt to send something; null before the first. */
        last: { at: string; ok: boolean; error: string | null } | null
      }>
    }
    code: 'enrolment_required' | 'forbidden' | 'rate_limited' | 'target_forbidden' | 'unauthenticated' | AnyCode
  }
  /** Add a channel */
  'POST /api/notifications/channels': {
    body: {
      name: string
      kind:
        | 'email'
        | 'ntfy'
        | 'gotify'
        | 'webhook'
        | 'apprise'
        | 'matrix' /** Each kind has settings of its own. `email`: `host`, `port`, `security`, `from`, `to`, and `username` with `password`. `ntfy`: `url`, `topic`, and `token`. `gotify`: `url`, `token`. `webhook`: `url`, `secret`. `apprise`: `url`, `key`. `matrix`: `url`, `room`, `token`. Each may have `allow_self_signed`. */
      settings: {
        host?: string | null
        port?: number | null
        security?: 'none' | 'starttls' | 'tls' | null
        username?: string | null
        password?: string | null
        from?: string | null
        to?: Array<string> | null
        url?: string | null
        topic?: string | null
        token?: string | null
        secret?: string | null
        key?: string | null
        room?: string | null
        allow_self_signed?: boolean | null
      }
      events?: Array<
        | 'updates_available'
        | 'security_updates_available'
        | 'upgrade_done'
        | 'upgrade_failed'
        | 'regressed'
        | 'rolled_back'
        | 'rollback_failed'
        | 'reboot_required'
        | 'schedule_missed'
        | 'schedule_stopped'
        | 'check_failed'
        | 'host_unreachable'
        | 'sign_in_from_new_address'
        | 'settings_changed'
        | 'disk_low'
        | 'module_taken_out'
      >
      targets?: 'all' | Array<string>
      minimum?: 'info' | 'warning' | 'critical'
      quiet?: { from: string; to: string; timezone: string } | null
      language?: 'fr' | 'en'
      output?: boolean
      enabled?: boolean
    }
    answer: {
      id: ChannelId
      name: string
      kind: 'email' | 'ntfy' | 'gotify' | 'webhook' | 'apprise' | 'matrix'
      settings: {
        host?: string
        port?: number
        security?: 'none' | 'starttls' | 'tls'
        username?: string
        from?: string
        to?: Array<string> /** Of a webhook without its query and the parts of its path that may be tokens: `…` stands for them. */
        url?: string
        topic?: string
        room?: string
        allow_self_signed: boolean
        password_set?: boolean
        token_set?: boolean
        secret_set?: boolean
        key_set?: boolean
      }
      events: Array<
        | 'updates_available'
        | 'security_updates_available'
        | 'upgrade_done'
        | 'upgrade_failed'
        | 'regressed'
        | 'rolled_back'
        | 'rollback_failed'
        | 'reboot_required'
        | 'schedule_missed'
        | 'schedule_stopped'
        | 'check_failed'
        | 'host_unreachable'
        | 'sign_in_from_new_address'
        | 'settings_changed'
        | 'disk_low'
        | 'module_taken_out'
      >
      targets: 'all' | Array<string>
      minimum: 'info' | 'warning' | 'critical'
      quiet: { from: string; to: string; timezone: string } | null
      language: 'fr' | 'en'
      output: boolean
      enabled: boolean /** The newest attempt to send something; null before the first. */
      last: { at: string; ok: boolean; error: string | null } | null
    }
    code:
      | 'body_too_large'
      | 'channel_name_taken'
      | 'channel_settings_invalid'
      | 'channels_full'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Remove a channel */
  'DELETE /api/notifications/channels/{id}': {
    params: { id: ChannelId }
    answer: { message: string }
    code:
      | 'channel_missing'
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Change a channel */
  'PATCH /api/notifications/channels/{id}': {
    params: { id: ChannelId }
    body: {
      name?: string /** Each kind has settings of its own. `email`: `host`, `port`, `security`, `from`, `to`, and `username` with `password`. `ntfy`: `url`, `topic`, and `token`. `gotify`: `url`, `token`. `webhook`: `url`, `secret`. `apprise`: `url`, `key`. `matrix`: `url`, `room`, `token`. Each may have `allow_self_signed`. */
      settings?: {
        host?: string | null
        port?: number | null
        security?: 'none' | 'starttls' | 'tls' | null
        username?: string | null
        password?: string | null
        from?: string | null
        to?: Array<string> | null
        url?: string | null
        topic?: string | null
        token?: string | null
        secret?: string | null
        key?: string | null
        room?: string | null
        allow_self_signed?: boolean | null
      }
      events?: Array<
        | 'updates_available'
        | 'security_updates_available'
        | 'upgrade_done'
        | 'upgrade_failed'
        | 'regressed'
        | 'rolled_back'
        | 'rollback_failed'
        | 'reboot_required'
        | 'schedule_missed'
        | 'schedule_stopped'
        | 'check_failed'
        | 'host_unreachable'
        | 'sign_in_from_new_address'
        | 'settings_changed'
        | 'disk_low'
        | 'module_taken_out'
      >
      targets?: 'all' | Array<string>
      minimum?: 'info' | 'warning' | 'critical'
      quiet?: { from: string; to: string; timezone: string } | null
      language?: 'fr' | 'en'
      output?: boolean
      enabled?: boolean
    }
    answer: {
      id: ChannelId
      name: string
      kind: 'email' | 'ntfy' | 'gotify' | 'webhook' | 'apprise' | 'matrix'
      settings: {
        host?: string
        port?: number
        security?: 'none' | 'starttls' | 'tls'
        username?: string
        from?: string
        to?: Array<string> /** Of a webhook without its query and the parts of its path that may be tokens: `…` stands for them. */
        url?: string
        topic?: string
        room?: string
        allow_self_signed: boolean
        password_set?: boolean
        token_set?: boolean
        secret_set?: boolean
        key_set?: boolean
      }
      events: Array<
        | 'updates_available'
        | 'security_updates_available'
        | 'upgrade_done'
        | 'upgrade_failed'
        | 'regressed'
        | 'rolled_back'
        | 'rollback_failed'
        | 'reboot_required'
        | 'schedule_missed'
        | 'schedule_stopped'
        | 'check_failed'
        | 'host_unreachable'
        | 'sign_in_from_new_address'
        | 'settings_changed'
        | 'disk_low'
        | 'module_taken_out'
      >
      targets: 'all' | Array<string>
      minimum: 'info' | 'warning' | 'critical'
      quiet: { from: string; to: string; timezone: string } | null
      language: 'fr' | 'en'
      output: boolean
      enabled: boolean /** The newest attempt to send something; null before the first. */
      last: { at: string; ok: boolean; error: string | null } | null
    }
    code:
      | 'body_too_large'
      | 'channel_changed'
      | 'channel_missing'
      | 'channel_name_taken'
      | 'channel_secret_required'
      | 'channel_settings_invalid'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Try a channel */
  'POST /api/notifications/channels/{id}/test': {
    params: { id: ChannelId }
    answer: {
      /** The status of HTTP or SMTP. */
      status: number /** The receiver’s own words, up to 500 characters, without secrets. */
      answer: string /** Recipients that the mail server refused, in a sentence. */
      refused: string | null
    }
    code:
      | 'channel_missing'
      | 'channel_refused'
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Notices and their deliveries */
  'GET /api/notifications/notices': {
    query?: { limit?: number; before?: number; language?: 'fr' | 'en' }
    answer: {
      notices: Array<{
        id: number
        at: string
        event:
          | 'updates_available'
          | 'security_updates_available'
          | 'upgrade_done'
          | 'upgrade_failed'
          | 'regressed'
          | 'rolled_back'
          | 'rollback_failed'
          | 'reboot_required'
          | 'schedule_missed'
          | 'schedule_stopped'
          | 'check_failed'
          | 'host_unreachable'
          | 'sign_in_from_new_address'
          | 'settings_changed'
          | 'disk_low'
          | 'module_taken_out'
        severity: 'info' | 'warning' | 'critical'
        target: Target | null
        title: string
        text: string
        link: string
        deliveries: Array<{
          channel_id: ChannelId
          state: 'waiting' | 'delivered' | 'given_up' | 'quiet'
          attempts: number
          last_error: string | null
          delivered_at:
            | string
            | null /** The time of the next attempt, or the end of the quiet hours; null once there is none. */
          next_at: string | null
        }>
      }>
      next: number | null
    }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_request'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The endpoints */
  'GET /api/openapi.json': {
    answer: { openapi: string }
    code: 'enrolment_required' | 'rate_limited' | AnyCode
  }
  /** The state of a deployment */
  'GET /api/registry/deployments/{id}': {
    params: { id: DeploymentId }
    answer: Deployment
    code:
      | 'deployment_missing'
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Modules on the forge */
  'GET /api/registry/modules': {
    query?: { refresh?: string }
    answer: {
      modules: Array<{
        id: ModuleId
        name: string
        description: string
        version: string
        has_backend: boolean
        repository: string
        commit: string
        updated_at: string
        is_fork: boolean
        is_mirror: boolean
        is_private: boolean
        origin: string
        installed: boolean
        installed_version: string | null
        is_enabled: boolean
      }>
      error: string | null
      left: Array<{
        code:
          | 'archived'
          | 'empty'
          | 'no_code'
          | 'bad_name'
          | 'no_descriptor'
          | 'invalid_descriptor'
          | 'symlink'
          | 'lfs_pointer'
          | 'too_large'
          | 'unreadable'
          | 'list_repeats'
          | 'list_too_long'
        reason: string
        count: number
        repositories: Array<{ name: string; detail: string | null }>
      }>
      reading: boolean
      progress: { repositories: number; read: number; is_listed: boolean } | null
      read_at: string | null
    }
    code: 'enrolment_required' | 'forbidden' | 'rate_limited' | 'target_forbidden' | 'unauthenticated' | AnyCode
  }
  /** The changes between two commits */
  'GET /api/registry/modules/{id}/changes': {
    params: { id: ModuleId }
    query: { from: string; to: string }
    answer: {
      commits: Array<{ commit: string; title: string; author: string; date: string }>
      commits_total: number
      dropped_total: number
      files: Array<{ name: string; status: 'added' | 'removed' | 'modified' }>
      files_total: number
      unknown: 'from_missing' | 'to_missing' | 'too_long' | 'forge_failed' | null
      error: string | null
    }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'forge_missing'
      | 'forge_token_unreadable'
      | 'invalid_request'
      | 'module_missing'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Install a module */
  'POST /api/registry/modules/{id}/install': {
    params: { id: ModuleId }
    body?: { commit?: string; tag?: string; previous?: true; pinned?: true }
    answer: { message: string; deployment: DeploymentId | null }
    code:
      | 'body_too_large'
      | 'commit_changed'
      | 'commit_missing'
      | 'core_module'
      | 'deployer_missing'
      | 'deployment_busy'
      | 'enrolment_required'
      | 'forbidden'
      | 'forge_certificate'
      | 'forge_failed'
      | 'forge_missing'
      | 'forge_token_unreadable'
      | 'invalid_descriptor'
      | 'invalid_files'
      | 'invalid_json'
      | 'invalid_request'
      | 'module_busy'
      | 'modules_folder_unusable'
      | 'other_repository'
      | 'rate_limited'
      | 'release_unknown'
      | 'repository_missing'
      | 'step_up_required'
      | 'tag_missing'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The versions of a module */
  'GET /api/registry/modules/{id}/versions': {
    params: { id: ModuleId }
    answer: {
      tip: { commit: string; branch: string; version: string | null } | null
      releases: Array<{
        tag: string
        name: string
        commit: string
        published_at: string
        prerelease: boolean
        notes: string
      }>
      tags: Array<{ tag: string; commit: string }>
      installed: { version: string; commit: string | null; tag: string | null } | null
      previous: { version: string; commit: string; tag: string | null } | null
      error: string | null
    }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'forge_token_unreadable'
      | 'module_missing'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The problems of modules */
  'GET /api/repair/modules': {
    answer: Array<{
      id: ModuleId
      name: string
      description: string
      version: string
      is_core: 0 | 1
      is_enabled: 0 | 1
      nav_label: string | null
      nav_icon: string | null
      nav_href: string | null
      nav_order: number
      repository: string | null
      commit: string | null
      tag: string | null
      fault: string | null
      fault_at: string | null
      installed_at: string
      updated_at: string
      has_backend: boolean
      previous: { version: string; commit: string; tag: string | null } | null
      problem: 'files_missing' | 'load_failed' | 'taken_out' | 'not_in_registry' | null
      detail: string | null
    }>
    code: 'enrolment_required' | 'forbidden' | 'rate_limited' | 'target_forbidden' | 'unauthenticated' | AnyCode
  }
  /** Remove a module */
  'DELETE /api/repair/modules/{id}': {
    params: { id: ModuleId }
    answer: { message: string }
    code:
      | 'core_module'
      | 'enrolment_required'
      | 'forbidden'
      | 'module_busy'
      | 'module_missing'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** All schedules */
  'GET /api/schedules': {
    query?: {
      limit?: number /** The `next` of the page before. */
      after?: string /** A part of the name. */
      q?: string
    }
    answer: {
      schedules: Array<{
        id: ScheduleId
        name: string
        enabled: boolean
        cron: string
        timezone: string
        window_minutes: number
        action: 'check' | 'upgrade'
        only: 'all' | 'security'
        waves: Array<{ targets: 'rest' | Array<string>; pause_minutes: number }>
        on_failure: 'stop' | 'continue'
        reboot: 'never' | 'if_required'
        created_by: string
        next: Array<string>
        last_run: {
          id: ScheduleRunId
          schedule_id: ScheduleId
          schedule_name: string
          action: 'check' | 'upgrade'
          due_at: string
          closes_at: string
          started_at: string | null
          finished_at: string | null
          started_by: string | null
          state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
          reason: string | null
          missed: number
          cancelled_by: string | null
          ping_error: string | null
          schedule_revision: number | null
          waves: Array<{
            targets: 'rest' | Array<string>
            pause_minutes: number
            state: 'waiting' | 'planning' | 'running' | 'ended'
            run_id: string | null
            started_at: string | null
            finished_at: string | null
            jobs: Array<{ target: string; job_id: string | null; outcome: string | null; reason: string | null }>
          }>
          reboot: { check_id: string | null; job_id: string | null; outcome: string | null } | null
        } | null
        recent: Array<{
          id: ScheduleRunId
          due_at: string
          state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
        }>
        paused_reason: string | null
        ping_url_set: boolean
        revision: number
      }>
      paused: { by: string; at: string } | null
      total: number
      need: number
      soonest: { id: ScheduleId; name: string; at: string } | null
      next: string | null
    }
    code: 'enrolment_required' | 'invalid_request' | 'rate_limited' | 'target_forbidden' | 'unauthenticated' | AnyCode
  }
  /** Add a schedule */
  'POST /api/schedules': {
    body: {
      name: string
      enabled?: boolean /** Minute, hour, day of the month, month, day of the week: `*`, numbers, lists, ranges and steps, and English names of months and days. Where both days are limited, one of them is enough. */
      cron: string /** A time zone of IANA’s database. */
      timezone: string
      window_minutes?: number
      action: 'check' | 'upgrade'
      only?: 'all' | 'security'
      waves: Array<{ targets: 'rest' | Array<string>; pause_minutes?: number }>
      on_failure?: 'stop' | 'continue'
      reboot?:
        | 'never'
        | 'if_required' /** Is asked by GET when a run begins (`…/start`), succeeds, and fails (`…/fail`). Never given back; null removes it. */
      ping_url?: string | null /** The caller’s own password, as proof. */
      password?: string
    }
    answer: {
      id: ScheduleId
      name: string
      enabled: boolean
      cron: string
      timezone: string
      window_minutes: number
      action: 'check' | 'upgrade'
      only: 'all' | 'security'
      waves: Array<{ targets: 'rest' | Array<string>; pause_minutes: number }>
      on_failure: 'stop' | 'continue'
      reboot: 'never' | 'if_required'
      created_by: string
      next: Array<string>
      last_run: {
        id: ScheduleRunId
        schedule_id: ScheduleId
        schedule_name: string
        action: 'check' | 'upgrade'
        due_at: string
        closes_at: string
        started_at: string | null
        finished_at: string | null
        started_by: string | null
        state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
        reason: string | null
        missed: number
        cancelled_by: string | null
        ping_error: string | null
        schedule_revision: number | null
        waves: Array<{
          targets: 'rest' | Array<string>
          pause_minutes: number
          state: 'waiting' | 'planning' | 'running' | 'ended'
          run_id: string | null
          started_at: string | null
          finished_at: string | null
          jobs: Array<{ target: string; job_id: string | null; outcome: string | null; reason: string | null }>
        }>
        reboot: { check_id: string | null; job_id: string | null; outcome: string | null } | null
      } | null
      recent: Array<{
        id: ScheduleRunId
        due_at: string
        state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
      }>
      paused_reason: string | null
      ping_url_set: boolean
      revision: number
    }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'login_busy'
      | 'login_rate_limited'
      | 'proof_impossible'
      | 'proof_needs_factor'
      | 'proof_required'
      | 'proof_wrong'
      | 'rate_limited'
      | 'schedule_invalid'
      | 'schedules_full'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Pause or resume all schedules */
  'PUT /api/schedules': {
    body: { paused: boolean }
    answer: { paused: { by: string; at: string } | null }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Delete a schedule */
  'DELETE /api/schedules/{id}': {
    params: { id: ScheduleId }
    answer: { message: string }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'schedule_missing'
      | 'schedule_running'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** A schedule */
  'GET /api/schedules/{id}': {
    params: { id: ScheduleId }
    answer: {
      id: ScheduleId
      name: string
      enabled: boolean
      cron: string
      timezone: string
      window_minutes: number
      action: 'check' | 'upgrade'
      only: 'all' | 'security'
      waves: Array<{ targets: 'rest' | Array<string>; pause_minutes: number }>
      on_failure: 'stop' | 'continue'
      reboot: 'never' | 'if_required'
      created_by: string
      next: Array<string>
      last_run: {
        id: ScheduleRunId
        schedule_id: ScheduleId
        schedule_name: string
        action: 'check' | 'upgrade'
        due_at: string
        closes_at: string
        started_at: string | null
        finished_at: string | null
        started_by: string | null
        state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
        reason: string | null
        missed: number
        cancelled_by: string | null
        ping_error: string | null
        schedule_revision: number | null
        waves: Array<{
          targets: 'rest' | Array<string>
          pause_minutes: number
          state: 'waiting' | 'planning' | 'running' | 'ended'
          run_id: string | null
          started_at: string | null
          finished_at: string | null
          jobs: Array<{ target: string; job_id: string | null; outcome: string | null; reason: string | null }>
        }>
        reboot: { check_id: string | null; job_id: string | null; outcome: string | null } | null
      } | null
      recent: Array<{
        id: ScheduleRunId
        due_at: string
        state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
      }>
      paused_reason: string | null
      ping_url_set: boolean
      revision: number
    }
    code: 'enrolment_required' | 'rate_limited' | 'schedule_missing' | 'target_forbidden' | 'unauthenticated' | AnyCode
  }
  /** Change a schedule */
  'PATCH /api/schedules/{id}': {
    params: { id: ScheduleId }
    body: {
      name?: string
      enabled?: boolean /** Minute, hour, day of the month, month, day of the week: `*`, numbers, lists, ranges and steps, and English names of months and days. Where both days are limited, one of them is enough. */
      cron?: string /** A time zone of IANA’s database. */
      timezone?: string
      window_minutes?: number
      action?: 'check' | 'upgrade'
      only?: 'all' | 'security'
      waves?: Array<{ targets: 'rest' | Array<string>; pause_minutes?: number }>
      on_failure?: 'stop' | 'continue'
      reboot?:
        | 'never'
        | 'if_required' /** Is asked by GET when a run begins (`…/start`), succeeds, and fails (`…/fail`). Never given back; null removes it. */
      ping_url?: string | null /** The caller’s own password, as proof. */
      password?: string
    }
    answer: {
      id: ScheduleId
      name: string
      enabled: boolean
      cron: string
      timezone: string
      window_minutes: number
      action: 'check' | 'upgrade'
      only: 'all' | 'security'
      waves: Array<{ targets: 'rest' | Array<string>; pause_minutes: number }>
      on_failure: 'stop' | 'continue'
      reboot: 'never' | 'if_required'
      created_by: string
      next: Array<string>
      last_run: {
        id: ScheduleRunId
        schedule_id: ScheduleId
        schedule_name: string
        action: 'check' | 'upgrade'
        due_at: string
        closes_at: string
        started_at: string | null
        finished_at: string | null
        started_by: string | null
        state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
        reason: string | null
        missed: number
        cancelled_by: string | null
        ping_error: string | null
        schedule_revision: number | null
        waves: Array<{
          targets: 'rest' | Array<string>
          pause_minutes: number
          state: 'waiting' | 'planning' | 'running' | 'ended'
          run_id: string | null
          started_at: string | null
          finished_at: string | null
          jobs: Array<{ target: string; job_id: string | null; outcome: string | null; reason: string | null }>
        }>
        reboot: { check_id: string | null; job_id: string | null; outcome: string | null } | null
      } | null
      recent: Array<{
        id: ScheduleRunId
        due_at: string
        state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
      }>
      paused_reason: string | null
      ping_url_set: boolean
      revision: number
    }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'login_busy'
      | 'login_rate_limited'
      | 'proof_impossible'
      | 'proof_needs_factor'
      | 'proof_required'
      | 'proof_wrong'
      | 'rate_limited'
      | 'schedule_changed'
      | 'schedule_invalid'
      | 'schedule_missing'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Run a schedule now */
  'POST /api/schedules/{id}/run': {
    params: { id: ScheduleId }
    answer: { run_id: ScheduleRunId; message: string }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'schedule_changed'
      | 'schedule_missing'
      | 'schedule_running'
      | 'schedules_paused'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The runs of a schedule */
  'GET /api/schedules/{id}/runs': {
    params: { id: ScheduleId }
    query?: { limit?: number; before?: ScheduleRunId }
    answer: {
      runs: Array<{
        id: ScheduleRunId
        schedule_id: ScheduleId
        schedule_name: string
        action: 'check' | 'upgrade'
        due_at: string
        closes_at: string
        started_at: string | null
        finished_at: string | null
        started_by: string | null
        state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
        reason: string | null
        missed: number
        cancelled_by: string | null
        ping_error: string | null
        schedule_revision: number | null
        waves: Array<{
          targets: 'rest' | Array<string>
          pause_minutes: number
          state: 'waiting' | 'planning' | 'running' | 'ended'
          run_id: string | null
          started_at: string | null
          finished_at: string | null
          jobs: Array<{ target: string; job_id: string | null; outcome: string | null; reason: string | null }>
        }>
        reboot: { check_id: string | null; job_id: string | null; outcome: string | null } | null
      }>
      next: ScheduleRunId | null
    }
    code:
      | 'enrolment_required'
      | 'invalid_request'
      | 'rate_limited'
      | 'schedule_missing'
      | 'schedule_run_missing'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The next times of a pattern */
  'GET /api/schedules/preview': {
    query: {
      /** Minute, hour, day of the month, month, day of the week: `*`, numbers, lists, ranges and steps, and English names of months and days. Where both days are limited, one of them is enough. */
      cron: string /** A time zone of IANA’s database. */
      timezone: string
    }
    answer: { next: Array<string> }
    code: 'enrolment_required' | 'invalid_request' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** A run of a schedule */
  'GET /api/schedules/runs/{id}': {
    params: { id: ScheduleRunId }
    answer: {
      id: ScheduleRunId
      schedule_id: ScheduleId
      schedule_name: string
      action: 'check' | 'upgrade'
      due_at: string
      closes_at: string
      started_at: string | null
      finished_at: string | null
      started_by: string | null
      state: 'running' | 'done' | 'stopped' | 'missed' | 'window_closed' | 'cancelled'
      reason: string | null
      missed: number
      cancelled_by: string | null
      ping_error: string | null
      schedule_revision: number | null
      waves: Array<{
        targets: 'rest' | Array<string>
        pause_minutes: number
        state: 'waiting' | 'planning' | 'running' | 'ended'
        run_id: string | null
        started_at: string | null
        finished_at: string | null
        jobs: Array<{ target: string; job_id: string | null; outcome: string | null; reason: string | null }>
      }>
      reboot: { check_id: string | null; job_id: string | null; outcome: string | null } | null
    }
    code:
      | 'enrolment_required'
      | 'rate_limited'
      | 'schedule_run_missing'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Cancel a run of a schedule */
  'POST /api/schedules/runs/{id}/cancel': {
    params: { id: ScheduleRunId }
    answer: { message: string }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'rate_limited'
      | 'schedule_run_ended'
      | 'schedule_run_missing'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Settings */
  'GET /api/settings': {
    answer: {
      ssh_host: string
      ssh_username: string
      ssh_password_set: boolean
      ssh_key_set: boolean /** The public key of the service account; empty without a key. */
      ssh_public_key: string /** Its line for `authorized_keys`; a line on the host may have more options. */
      ssh_authorized_key: string /** Whether a new key waits until the host has it. */
      ssh_key_next_set: boolean /** The line of the key that waits; empty without one. */
      ssh_next_authorized_key: string /** Public keys, one a line, that are not used any more but may still be on the host. */
      ssh_key_retired: string
      ssh_host_key: string
      hypervisor_url: string
      hypervisor_token_set: boolean
      hypervisor_fingerprint: string
      forge_url: string
      forge_org: string
      forge_token_set: boolean
      forge_fingerprint: string /** The forge that the environment gives, for what is not stored; null without one. */
      forge_environment: { url: string; org: string; token_set: boolean } | null
      checks_automatic: string
      checks_parallel: string
      dashboard_shortcuts: string
    }
    code: 'enrolment_required' | 'forbidden' | 'rate_limited' | 'target_forbidden' | 'unauthenticated' | AnyCode
  }
  /** Change settings */
  'PATCH /api/settings': {
    body: {
      ssh_host?: string
      ssh_username?: string
      ssh_password?: string
      ssh_host_key?: string
      hypervisor_url?: string
      hypervisor_token?: string
      hypervisor_fingerprint?: string
      forge_url?: string
      forge_org?: string
      forge_token?: string
      forge_fingerprint?: string
      checks_automatic?: 'on' | 'off'
      checks_parallel?: string
      dashboard_shortcuts?: string /** The caller’s own password, as proof. */
      current_password?: string
    }
    answer: { message: string }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'forge_url_required'
      | 'host_key_required'
      | 'hypervisor_token_required'
      | 'invalid_json'
      | 'invalid_request'
      | 'login_busy'
      | 'login_rate_limited'
      | 'proof_impossible'
      | 'proof_needs_factor'
      | 'proof_required'
      | 'proof_wrong'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Test the forge */
  'POST /api/settings/forge/test': {
    body: { forge_url?: string; forge_org?: string; forge_token?: string; forge_fingerprint?: string }
    answer: {
      checks: Array<{
        id: 'reachable' | 'certificate' | 'forge' | 'token' | 'organization' | 'repositories' | 'files'
        ok: boolean
        message: string
      }>
      fingerprint: string | null
    }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'forge_missing'
      | 'forge_token_unreadable'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Read a host’s key */
  'POST /api/settings/host-key': {
    body: { ssh_host: string }
    answer: { ssh_host_key: HostKey }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'host_check_failed'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** The log */
  'GET /api/settings/logs': {
    answer: { lines: Array<string> }
    code: 'enrolment_required' | 'forbidden' | 'rate_limited' | 'target_forbidden' | 'unauthenticated' | AnyCode
  }
  /** Public settings */
  'GET /api/settings/public': {
    answer: { dashboard_shortcuts: string }
    code: 'enrolment_required' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Store public settings */
  'PUT /api/settings/public': {
    body: { dashboard_shortcuts: string }
    answer: { message: string }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Give the service account a new key */
  'POST /api/settings/ssh-key/rotate': {
    body: {
      /** The line of the waiting key has been added by hand. */
      confirmed?: boolean /** Forget the stored password of the account. */
      drop_password?: boolean
    }
    answer: {
      state: 'rotated' | 'waiting' /** The new public key. */
      ssh_public_key: string /** The line for `authorized_keys`. */
      authorized_key: string /** Whether the host still accepts, or may accept, a key before it. */
      old_key_left: boolean
      message: string
    }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_key_none_waiting'
      | 'ssh_key_refused'
      | 'ssh_password_unreadable'
      | 'step_up_required'
      | 'sudo_wants_password'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The applications of a target */
  'GET /api/updates/applications': {
    query: { target: Target }
    answer: { applications: Array<Application> }
    code:
      | 'check_missing'
      | 'enrolment_required'
      | 'invalid_request'
      | 'rate_limited'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** Withdraw an agreement to what an update of an application would run */
  'DELETE /api/updates/applications/agreement': {
    body: { target: Target; id: ApplicationId; digest: ApplicationDigest }
    answer: { message: string }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** Agree to what an update of an application would run */
  'PUT /api/updates/applications/agreement': {
    body: { target: Target; id: ApplicationId; digest: ApplicationDigest }
    answer: { message: string }
    code:
      | 'application_missing'
      | 'body_too_large'
      | 'check_missing'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'rate_limited'
      | 'source_changed'
      | 'step_up_required'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** Update an application */
  'POST /api/updates/applications/run': {
    body: { target: Target; id: ApplicationId; digest: ApplicationDigest; protection?: Protection }
    answer: { job_id: JobId; message: string }
    code:
      | 'application_missing'
      | 'application_queued'
      | 'application_unsupported'
      | 'body_too_large'
      | 'check_missing'
      | 'enrolment_required'
      | 'forbidden'
      | 'host_answer_too_long'
      | 'host_helper_lacks'
      | 'host_helper_old'
      | 'invalid_json'
      | 'invalid_request'
      | 'not_agreed'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'source_changed'
      | 'source_unavailable'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'step_up_required'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** Fetch what an update of an application would run */
  'POST /api/updates/applications/source': {
    body: { target: Target; id: ApplicationId }
    answer: {
      address: string
      digest: ApplicationDigest
      files: Array<{ address: string; digest: ApplicationDigest; size: number; text: string }>
      refused: Array<string>
      agreed: boolean
    }
    code:
      | 'account_kept_out'
      | 'application_missing'
      | 'application_unsupported'
      | 'body_too_large'
      | 'check_missing'
      | 'enrolment_required'
      | 'forbidden'
      | 'host_answer_too_long'
      | 'host_helper_lacks'
      | 'host_helper_old'
      | 'invalid_json'
      | 'invalid_request'
      | 'profile_missing'
      | 'rate_limited'
      | 'source_unavailable'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** The changes of an offered version */
  'GET /api/updates/changelog': {
    query: { target: Target; package: string; from?: '' | string; to: string }
    answer: {
      package: string
      entries: Array<{ version: string; urgency: string | null; date: string | null; text: string }>
      source: 'repository' | 'package'
    }
    code:
      | 'changelog_missing'
      | 'changelog_unavailable'
      | 'enrolment_required'
      | 'host_answer_too_long'
      | 'invalid_request'
      | 'rate_limited'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** The results of the last checks */
  'GET /api/updates/checks': {
    answer: {
      checks: Array<{
        manager: 'apt' | 'apk' | 'dnf' | 'zypper' | 'pacman' | null
        os: {
          id: string
          version_id: string | null
          name: string
          codename: string | null
          end_of_life: string | null
        } | null
        counts: {
          upgrade: number
          security: number
          install: number
          remove: number
          held: number
          phased: number
          kept_back: number
        }
        exploited: number
        download_bytes: number | null
        disk_bytes: number | null
        findings: Array<{
          code:
            | 'repository_unreachable'
            | 'repository_changed'
            | 'repository_unsigned'
            | 'repository_expired'
            | 'lists_stale'
            | 'held'
            | 'phased'
            | 'kept_back_install'
            | 'kept_back_remove'
            | 'kept_back_dependencies'
            | 'dpkg_interrupted'
            | 'dependencies_broken'
            | 'disk_low'
            | 'conffile_changed'
            | 'manager_locked'
            | 'container_locked'
            | 'container_stopped'
            | 'container_template'
            | 'manager_missing'
            | 'network_missing'
            | 'root_read_only'
            | 'protection_unavailable'
            | 'self_impact'
            | 'reboot_required'
            | 'services_outdated'
            | 'end_of_life'
            | 'application_update'
            | 'other_upgrader'
            | 'security_unknown'
            | 'selection_unsupported'
          severity: 'info' | 'warning' | 'blocking'
          message: string
          packages: Array<string>
          repository: string | null
          remedy: {
            action:
              | 'retry_check'
              | 'allow_release_change'
              | 'repair_dpkg'
              | 'lift_hold'
              | 'clean_cache'
              | 'start_container'
              | 'disable_auto_upgrades'
              | 'review_conffile'
              | 'open_terminal'
            label: string
          } | null /** Of `self_impact`: what the upgrade takes away for a moment (`away`), how late the target comes among several ones, from 0 to 3 for the host (`late`), and whether the panel goes away with the target (`panel`). */
          impact?: { away: 'panel' | 'host' | 'both' | null; late: number; panel: boolean }
        }>
        reboot: { required: boolean | null; reasons: Array<string> }
        services: Array<{
          name: string
          reason: string /** The package of the replaced file, where it is known. */
          package:
            | string
            | null /** The way to the new code: `service`, a restart of this service alone (`POST /api/updates/restarts`); `session`, the end of that user’s sessions; `container` or `reboot`, a restart of the whole target. `none` where an earlier version has checked the target. */
          restart:
            | 'service'
            | 'session'
            | 'container'
            | 'reboot'
            | 'none' /** Why the service is not restarted alone, a French sentence; null where it can be, or is no service. */
          why: string | null
          interrupts: 'panel' | 'host' | 'both' | null
        }> /** Whether services may be missing, because the service account sees only its own processes, or because not every process could be read. */
        services_unseen: boolean
        target: Target
        name: string
        state: 'up_to_date' | 'ready' | 'attention' | 'blocked' | 'stopped' | 'unsupported' | 'unknown'
        checked_at: string | null
        lists_at: string | null
        job_id: JobId | null
        checking: boolean
        changed_at: string | null
        last_upgrade: {
          job_id: JobId /** The name of an application whose update needs somebody: it failed, or something does not work since. Null for an upgrade of packages. */
          application: string | null
          outcome:
            | 'done'
            | 'warned'
            | 'failed'
            | 'cancelled'
            | 'plan_changed'
            | 'regressed'
            | 'rolled_back'
            | 'rollback_failed'
          exit_code: number | null
          finished_at: string /** How many things did not work any more after it. */
          regressions: number /** The choice of its policy after a regression; null without protection. */
          on_failure:
            | 'rollback'
            | 'ask'
            | 'keep'
            | null /** The decision about the regressions; null while there is none. */
          decided: { by: string; at: string; choice: 'keep' | 'rollback'; job_id: JobId | null } | null
        } | null
      }>
      automatic: boolean
      vulnerabilities: {
        cve: { at: string | null; error: string | null } | null
        kev: { at: string | null; error: string | null } | null
      }
      schedules_paused: { by: string; at: string } | null
    }
    code: 'enrolment_required' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Check a target */
  'POST /api/updates/checks': {
    body: { target: Target }
    answer: { job_id: JobId; message: string }
    code:
      | 'account_kept_out'
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'target_invalid'
      | 'target_missing'
      | 'unauthenticated'
      | AnyCode
  }
  /** The result of a target’s last check */
  'GET /api/updates/checks/{target}': {
    params: { target: Target }
    answer: {
      manager: 'apt' | 'apk' | 'dnf' | 'zypper' | 'pacman' | null
      os: {
        id: string
        version_id: string | null
        name: string
        codename: string | null
        end_of_life: string | null
      } | null
      counts: {
        upgrade: number
        security: number
        install: number
        remove: number
        held: number
        phased: number
        kept_back: number
      }
      exploited: number
      download_bytes: number | null
      disk_bytes: number | null
      findings: Array<{
        code:
          | 'repository_unreachable'
          | 'repository_changed'
          | 'repository_unsigned'
          | 'repository_expired'
          | 'lists_stale'
          | 'held'
          | 'phased'
          | 'kept_back_install'
          | 'kept_back_remove'
          | 'kept_back_dependencies'
          | 'dpkg_interrupted'
          | 'dependencies_broken'
          | 'disk_low'
          | 'conffile_changed'
          | 'manager_locked'
          | 'container_locked'
          | 'container_stopped'
          | 'container_template'
          | 'manager_missing'
          | 'network_missing'
          | 'root_read_only'
          | 'protection_unavailable'
          | 'self_impact'
          | 'reboot_required'
          | 'services_outdated'
          | 'end_of_life'
          | 'application_update'
          | 'other_upgrader'
          | 'security_unknown'
          | 'selection_unsupported'
        severity: 'info' | 'warning' | 'blocking'
        message: string
        packages: Array<string>
        repository: string | null
        remedy: {
          action:
            | 'retry_check'
            | 'allow_release_change'
            | 'repair_dpkg'
            | 'lift_hold'
            | 'clean_cache'
            | 'start_container'
            | 'disable_auto_upgrades'
            | 'review_conffile'
            | 'open_terminal'
          label: string
        } | null /** Of `self_impact`: what the upgrade takes away for a moment (`away`), how late the target comes among several ones, from 0 to 3 for the host (`late`), and whether the panel goes away with the target (`panel`). */
        impact?: { away: 'panel' | 'host' | 'both' | null; late: number; panel: boolean }
      }>
      reboot: { required: boolean | null; reasons: Array<string> }
      services: Array<{
        name: string
        reason: string /** The package of the replaced file, where it is known. */
        package:
          | string
          | null /** The way to the new code: `service`, a restart of this service alone (`POST /api/updates/restarts`); `session`, the end of that user’s sessions; `container` or `reboot`, a restart of the whole target. `none` where an earlier version has checked the target. */
        restart:
          | 'service'
          | 'session'
          | 'container'
          | 'reboot'
          | 'none' /** Why the service is not restarted alone, a French sentence; null where it can be, or is no service. */
        why: string | null
        interrupts: 'panel' | 'host' | 'both' | null
      }> /** Whether services may be missing, because the service account sees only its own processes, or because not every process could be read. */
      services_unseen: boolean
      target: Target
      name: string
      state: 'up_to_date' | 'ready' | 'attention' | 'blocked' | 'stopped' | 'unsupported' | 'unknown'
      checked_at: string | null
      lists_at: string | null
      job_id: JobId | null
      checking: boolean
      changed_at: string | null
      last_upgrade: {
        job_id: JobId /** The name of an application whose update needs somebody: it failed, or something does not work since. Null for an upgrade of packages. */
        application: string | null
        outcome:
          | 'done'
          | 'warned'
          | 'failed'
          | 'cancelled'
          | 'plan_changed'
          | 'regressed'
          | 'rolled_back'
          | 'rollback_failed'
        exit_code: number | null
        finished_at: string /** How many things did not work any more after it. */
        regressions: number /** The choice of its policy after a regression; null without protection. */
        on_failure:
          | 'rollback'
          | 'ask'
          | 'keep'
          | null /** The decision about the regressions; null while there is none. */
        decided: { by: string; at: string; choice: 'keep' | 'rollback'; job_id: JobId | null } | null
      } | null
      packages: Array<{
        name: string
        arch: string
        from: string | null
        to: string | null
        action: 'upgrade' | 'install' | 'remove' | 'downgrade'
        origin: string | null
        security: boolean
        size: number | null
        source: string | null
        cves: Array<{ id: string; urgency: string | null; known_exploited: boolean }>
        status: 'planned' | 'held' | 'phased' | 'kept_back'
        reason: 'held' | 'phased' | 'kept_back_install' | 'kept_back_remove' | 'kept_back_dependencies' | null
      }>
    }
    code:
      | 'check_missing'
      | 'enrolment_required'
      | 'not_found'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The newest jobs */
  'GET /api/updates/history': {
    query?: {
      output?: 'none'
      kind?: 'upgrade' | 'check' | 'remedy' | 'rollback' | 'snapshot' | 'restart' | 'reboot' | 'application'
    }
    answer: Array<{
      job_id: JobId
      target: string
      status: 'running' | 'success' | 'error'
      output?: string
      started_at: string
      finished_at?: string
    }> | null
    code: 'enrolment_required' | 'invalid_request' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Hold packages, or lift their hold */
  'PUT /api/updates/holds': {
    body: { target: Target; packages: Array<string>; held: boolean }
    answer: { job_id: JobId; message: string }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'step_up_required'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** The newest jobs, for polling */
  'GET /api/updates/jobs': {
    query?: {
      /** The `version` of a previous answer. */ since?: string
    }
    answer: {
      version: string
      jobs: Array<{
        job_id: JobId
        target: string
        status: 'running' | 'success' | 'error'
        started_at: string
        finished_at?: string
        exit_code: number | null
        error_code: string | null
        started_by_name: string
        containers: Array<ContainerResult> | null /** Sentences about what the end of a job does not tell: package lists that could not be refreshed, one for each repository, or for each container of `all`; snapshots that stay; an application without a newer version. */
        warnings: Array<string>
        run_id: RunId | null
        plan_id: PlanId | null /** For a job that ended with `plan_changed`: the packages whose change was not the planned one, each with `planned` and `found` as `action from to`, or null without a change. At most 1,000, and at most 20 in a list of jobs. Null for any other job. */
        plan_difference: Array<{
          name: string
          planned: string | null
          found: string | null
        }> | null /** The present step of an upgrade, of packages or an application, or of a rollback; null otherwise. */
        phase:
          | 'waiting'
          | 'refreshing'
          | 'protecting'
          | 'measuring'
          | 'upgrading'
          | 'settling'
          | 'comparing'
          | 'rolling_back'
          | 'pruning'
          | 'done'
          | null /** The outcome of such a job that has ended, apart from its `status`. Null for any other job. */
        outcome:
          | 'upgraded'
          | 'nothing_to_do'
          | 'plan_changed'
          | 'regressed'
          | 'rolled_back'
          | 'rollback_failed'
          | 'failed'
          | 'cancelled'
          | null /** The snapshot or backup that the job has made; `present` until it is removed. */
        snapshot: {
          name: string
          made_at: string
          kind: 'snapshot' | 'backup'
          present: boolean
        } | null /** The things that worked before a protected upgrade and did not after it, at most 50. */
        regressions: Array<{
          kind: 'unit' | 'socket' | 'docker' | 'podman' | 'probe' | 'container'
          name: string
          message: string
        }> /** The policy that the job runs with, from its start on; null without one. */
        protection: Protection | null /** Why a protected upgrade had no snapshot, in the hypervisor’s words. */
        unprotected: string | null /** Why nothing was upgraded, or why a rollback failed, in the hypervisor’s words. */
        reason: string | null /** How long a rollback kept the container from answering. */
        outage_seconds: number | null /** The decision about the regressions; null while there is none. */
        decided: { by: string; at: string; choice: 'keep' | 'rollback'; job_id: JobId | null } | null
        kind?: 'upgrade' | 'check' | 'remedy' | 'rollback' | 'snapshot' | 'restart' | 'reboot' | 'application'
      }> | null
    }
    code: 'enrolment_required' | 'invalid_request' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** A job */
  'GET /api/updates/jobs/{id}': {
    params: { id: JobId }
    query?: { output?: 'none' }
    answer: {
      job_id: JobId
      target: string
      status: 'running' | 'success' | 'error'
      output?: string
      started_at: string
      finished_at?: string
      exit_code: number | null
      error_code: string | null
      started_by_name: string
      containers: Array<ContainerResult> | null /** Sentences about what the end of a job does not tell: package lists that could not be refreshed, one for each repository, or for each container of `all`; snapshots that stay; an application without a newer version. */
      warnings: Array<string>
      run_id: RunId | null
      plan_id: PlanId | null /** For a job that ended with `plan_changed`: the packages whose change was not the planned one, each with `planned` and `found` as `action from to`, or null without a change. At most 1,000, and at most 20 in a list of jobs. Null for any other job. */
      plan_difference: Array<{
        name: string
        planned: string | null
        found: string | null
      }> | null /** The present step of an upgrade, of packages or an application, or of a rollback; null otherwise. */
      phase:
        | 'waiting'
        | 'refreshing'
        | 'protecting'
        | 'measuring'
        | 'upgrading'
        | 'settling'
        | 'comparing'
        | 'rolling_back'
        | 'pruning'
        | 'done'
        | null /** The outcome of such a job that has ended, apart from its `status`. Null for any other job. */
      outcome:
        | 'upgraded'
        | 'nothing_to_do'
        | 'plan_changed'
        | 'regressed'
        | 'rolled_back'
        | 'rollback_failed'
        | 'failed'
        | 'cancelled'
        | null /** The snapshot or backup that the job has made; `present` until it is removed. */
      snapshot: {
        name: string
        made_at: string
        kind: 'snapshot' | 'backup'
        present: boolean
      } | null /** The things that worked before a protected upgrade and did not after it, at most 50. */
      regressions: Array<{
        kind: 'unit' | 'socket' | 'docker' | 'podman' | 'probe' | 'container'
        name: string
        message: string
      }> /** The policy that the job runs with, from its start on; null without one. */
      protection: Protection | null /** Why a protected upgrade had no snapshot, in the hypervisor’s words. */
      unprotected: string | null /** Why nothing was upgraded, or why a rollback failed, in the hypervisor’s words. */
      reason: string | null /** How long a rollback kept the container from answering. */
      outage_seconds: number | null /** The decision about the regressions; null while there is none. */
      decided: {
        by: string
        at: string
        choice: 'keep' | 'rollback'
        job_id: JobId | null
      } | null /** The phases of a protected job that have begun, with their beginnings. */
      phases: Array<{
        phase: string
        at: string
      }> /** The container before and after a protected upgrade, the worst first, at most 300; null without both looks. */
      comparison: Array<{
        kind: 'unit' | 'socket' | 'docker' | 'podman' | 'probe' | 'container'
        name: string
        before: string | null
        after: string | null
        state: 'same' | 'worse' | 'better' | 'new' | 'unsteady'
      }> | null /** The application that the job updates, and the digest that it runs; null for other jobs. */
      application: { id: string; name: string; digest: string } | null
      kind?:
        | 'upgrade'
        | 'check'
        | 'remedy'
        | 'rollback'
        | 'snapshot'
        | 'restart'
        | 'reboot'
        | 'application' /** The targets that did not answer; only for a check that has ended. */
      unchecked?: Array<Target>
      output_size: number
    }
    code:
      | 'enrolment_required'
      | 'invalid_request'
      | 'job_missing'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Cancel a job */
  'POST /api/updates/jobs/{id}/cancel': {
    params: { id: JobId }
    answer: { message: string }
    code:
      | 'account_kept_out'
      | 'enrolment_required'
      | 'forbidden'
      | 'job_ended'
      | 'job_missing'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Keep an upgrade with a regression */
  'POST /api/updates/jobs/{id}/keep': {
    params: { id: JobId }
    answer: { message: string }
    code:
      | 'decision_impossible'
      | 'enrolment_required'
      | 'forbidden'
      | 'job_missing'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The output of a job */
  'GET /api/updates/jobs/{id}/output': {
    params: { id: JobId }
    query?: { offset?: number }
    answer: { offset: number; next_offset: number; ended: boolean; chunk: string }
    code:
      | 'enrolment_required'
      | 'invalid_request'
      | 'job_missing'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Go back to before an upgrade */
  'POST /api/updates/jobs/{id}/rollback': {
    params: { id: JobId }
    body?: { restore?: boolean }
    answer: { job_id: JobId; message: string }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'host_answer_too_long'
      | 'invalid_json'
      | 'invalid_request'
      | 'job_missing'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'rollback_impossible'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Remove the snapshot of an upgrade */
  'DELETE /api/updates/jobs/{id}/snapshot': {
    params: { id: JobId }
    answer: { job_id: JobId; message: string }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'job_missing'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'snapshot_missing'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Packages of a target */
  'GET /api/updates/packages': {
    query: { target: Target }
    answer: Array<{ name: string; version: string; old_version: string }>
    code:
      | 'enrolment_required'
      | 'host_answer_too_long'
      | 'rate_limited'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'target_invalid'
      | 'target_missing'
      | 'unauthenticated'
      | AnyCode
  }
  /** Make a plan of an upgrade */
  'POST /api/updates/plans': {
    body: {
      target: Target
      only?: 'all' | 'security'
      packages?: Array<string>
      exclude?: Array<string>
      allow_remove?: boolean
    }
    answer: {
      id: PlanId
      target: Target
      hash: string
      made_at: string
      made_by: string
      expires_at: string
      only: 'all' | 'security'
      packages: Array<string> | null
      exclude: Array<string>
      allow_remove: boolean
      manager: 'apt' | 'apk' | 'dnf' | 'zypper' | 'pacman'
      actions: Array<{
        name: string
        arch: string
        from: string | null
        to: string | null
        action: 'upgrade' | 'install' | 'remove' | 'downgrade'
        origin: string | null
        security: boolean
        size: number | null
        source: string | null
        cves: Array<{ id: string; urgency: string | null; known_exploited: boolean }>
        status: 'planned' | 'held' | 'phased' | 'kept_back'
        reason: 'held' | 'phased' | 'kept_back_install' | 'kept_back_remove' | 'kept_back_dependencies' | null
      }>
      counts: {
        upgrade: number
        security: number
        install: number
        remove: number
        held: number
        phased: number
        kept_back: number
      }
      download_bytes: number | null
      disk_bytes: number | null
      findings: Array<{
        code:
          | 'repository_unreachable'
          | 'repository_changed'
          | 'repository_unsigned'
          | 'repository_expired'
          | 'lists_stale'
          | 'held'
          | 'phased'
          | 'kept_back_install'
          | 'kept_back_remove'
          | 'kept_back_dependencies'
          | 'dpkg_interrupted'
          | 'dependencies_broken'
          | 'disk_low'
          | 'conffile_changed'
          | 'manager_locked'
          | 'container_locked'
          | 'container_stopped'
          | 'container_template'
          | 'manager_missing'
          | 'network_missing'
          | 'root_read_only'
          | 'protection_unavailable'
          | 'self_impact'
          | 'reboot_required'
          | 'services_outdated'
          | 'end_of_life'
          | 'application_update'
          | 'other_upgrader'
          | 'security_unknown'
          | 'selection_unsupported'
        severity: 'info' | 'warning' | 'blocking'
        message: string
        packages: Array<string>
        repository: string | null
        remedy: {
          action:
            | 'retry_check'
            | 'allow_release_change'
            | 'repair_dpkg'
            | 'lift_hold'
            | 'clean_cache'
            | 'start_container'
            | 'disable_auto_upgrades'
            | 'review_conffile'
            | 'open_terminal'
          label: string
        } | null /** Of `self_impact`: what the upgrade takes away for a moment (`away`), how late the target comes among several ones, from 0 to 3 for the host (`late`), and whether the panel goes away with the target (`panel`). */
        impact?: { away: 'panel' | 'host' | 'both' | null; late: number; panel: boolean }
      }>
      conffiles: Array<{
        file: string
        package: string
        state: 'changed' | 'conflict' | 'same' | 'unavailable'
        choice: 'keep' | 'take'
        diff: string | null
        diff_cut: boolean
        diff_missing: 'binary' | 'private' | 'hidden' | null
      }>
      protection: null
      state: 'current' | 'used' | 'expired'
      job_id: JobId | null
    }
    code:
      | 'account_kept_out'
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'host_answer_too_long'
      | 'host_helper_old'
      | 'invalid_json'
      | 'invalid_request'
      | 'plan_empty'
      | 'plan_impossible'
      | 'plans_busy'
      | 'profile_missing'
      | 'rate_limited'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** A plan */
  'GET /api/updates/plans/{id}': {
    params: { id: PlanId }
    answer: {
      id: PlanId
      target: Target
      hash: string
      made_at: string
      made_by: string
      expires_at: string
      only: 'all' | 'security'
      packages: Array<string> | null
      exclude: Array<string>
      allow_remove: boolean
      manager: 'apt' | 'apk' | 'dnf' | 'zypper' | 'pacman'
      actions: Array<{
        name: string
        arch: string
        from: string | null
        to: string | null
        action: 'upgrade' | 'install' | 'remove' | 'downgrade'
        origin: string | null
        security: boolean
        size: number | null
        source: string | null
        cves: Array<{ id: string; urgency: string | null; known_exploited: boolean }>
        status: 'planned' | 'held' | 'phased' | 'kept_back'
        reason: 'held' | 'phased' | 'kept_back_install' | 'kept_back_remove' | 'kept_back_dependencies' | null
      }>
      counts: {
        upgrade: number
        security: number
        install: number
        remove: number
        held: number
        phased: number
        kept_back: number
      }
      download_bytes: number | null
      disk_bytes: number | null
      findings: Array<{
        code:
          | 'repository_unreachable'
          | 'repository_changed'
          | 'repository_unsigned'
          | 'repository_expired'
          | 'lists_stale'
          | 'held'
          | 'phased'
          | 'kept_back_install'
          | 'kept_back_remove'
          | 'kept_back_dependencies'
          | 'dpkg_interrupted'
          | 'dependencies_broken'
          | 'disk_low'
          | 'conffile_changed'
          | 'manager_locked'
          | 'container_locked'
          | 'container_stopped'
          | 'container_template'
          | 'manager_missing'
          | 'network_missing'
          | 'root_read_only'
          | 'protection_unavailable'
          | 'self_impact'
          | 'reboot_required'
          | 'services_outdated'
          | 'end_of_life'
          | 'application_update'
          | 'other_upgrader'
          | 'security_unknown'
          | 'selection_unsupported'
        severity: 'info' | 'warning' | 'blocking'
        message: string
        packages: Array<string>
        repository: string | null
        remedy: {
          action:
            | 'retry_check'
            | 'allow_release_change'
            | 'repair_dpkg'
            | 'lift_hold'
            | 'clean_cache'
            | 'start_container'
            | 'disable_auto_upgrades'
            | 'review_conffile'
            | 'open_terminal'
          label: string
        } | null /** Of `self_impact`: what the upgrade takes away for a moment (`away`), how late the target comes among several ones, from 0 to 3 for the host (`late`), and whether the panel goes away with the target (`panel`). */
        impact?: { away: 'panel' | 'host' | 'both' | null; late: number; panel: boolean }
      }>
      conffiles: Array<{
        file: string
        package: string
        state: 'changed' | 'conflict' | 'same' | 'unavailable'
        choice: 'keep' | 'take'
        diff: string | null
        diff_cut: boolean
        diff_missing: 'binary' | 'private' | 'hidden' | null
      }>
      protection: null
      state: 'current' | 'used' | 'expired'
      job_id: JobId | null
    }
    code: 'enrolment_required' | 'plan_missing' | 'rate_limited' | 'target_forbidden' | 'unauthenticated' | AnyCode
  }
  /** Compare the changed configuration files of a plan */
  'POST /api/updates/plans/{id}/conffiles': {
    params: { id: PlanId }
    answer: {
      id: PlanId
      target: Target
      hash: string
      made_at: string
      made_by: string
      expires_at: string
      only: 'all' | 'security'
      packages: Array<string> | null
      exclude: Array<string>
      allow_remove: boolean
      manager: 'apt' | 'apk' | 'dnf' | 'zypper' | 'pacman'
      actions: Array<{
        name: string
        arch: string
        from: string | null
        to: string | null
        action: 'upgrade' | 'install' | 'remove' | 'downgrade'
        origin: string | null
        security: boolean
        size: number | null
        source: string | null
        cves: Array<{ id: string; urgency: string | null; known_exploited: boolean }>
        status: 'planned' | 'held' | 'phased' | 'kept_back'
        reason: 'held' | 'phased' | 'kept_back_install' | 'kept_back_remove' | 'kept_back_dependencies' | null
      }>
      counts: {
        upgrade: number
        security: number
        install: number
        remove: number
        held: number
        phased: number
        kept_back: number
      }
      download_bytes: number | null
      disk_bytes: number | null
      findings: Array<{
        code:
          | 'repository_unreachable'
          | 'repository_changed'
          | 'repository_unsigned'
          | 'repository_expired'
          | 'lists_stale'
          | 'held'
          | 'phased'
          | 'kept_back_install'
          | 'kept_back_remove'
          | 'kept_back_dependencies'
          | 'dpkg_interrupted'
          | 'dependencies_broken'
          | 'disk_low'
          | 'conffile_changed'
          | 'manager_locked'
          | 'container_locked'
          | 'container_stopped'
          | 'container_template'
          | 'manager_missing'
          | 'network_missing'
          | 'root_read_only'
          | 'protection_unavailable'
          | 'self_impact'
          | 'reboot_required'
          | 'services_outdated'
          | 'end_of_life'
          | 'application_update'
          | 'other_upgrader'
          | 'security_unknown'
          | 'selection_unsupported'
        severity: 'info' | 'warning' | 'blocking'
        message: string
        packages: Array<string>
        repository: string | null
        remedy: {
          action:
            | 'retry_check'
            | 'allow_release_change'
            | 'repair_dpkg'
            | 'lift_hold'
            | 'clean_cache'
            | 'start_container'
            | 'disable_auto_upgrades'
            | 'review_conffile'
            | 'open_terminal'
          label: string
        } | null /** Of `self_impact`: what the upgrade takes away for a moment (`away`), how late the target comes among several ones, from 0 to 3 for the host (`late`), and whether the panel goes away with the target (`panel`). */
        impact?: { away: 'panel' | 'host' | 'both' | null; late: number; panel: boolean }
      }>
      conffiles: Array<{
        file: string
        package: string
        state: 'changed' | 'conflict' | 'same' | 'unavailable'
        choice: 'keep' | 'take'
        diff: string | null
        diff_cut: boolean
        diff_missing: 'binary' | 'private' | 'hidden' | null
      }>
      protection: null
      state: 'current' | 'used' | 'expired'
      job_id: JobId | null
    }
    code:
      | 'account_kept_out'
      | 'conffiles_changed'
      | 'conffiles_unavailable'
      | 'enrolment_required'
      | 'forbidden'
      | 'host_answer_too_long'
      | 'host_helper_old'
      | 'plan_expired'
      | 'plan_missing'
      | 'plan_used'
      | 'plans_busy'
      | 'profile_missing'
      | 'rate_limited'
      | 'ssh_failed'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** Choose what becomes of changed configuration files */
  'PUT /api/updates/plans/{id}/conffiles': {
    params: { id: PlanId }
    body: { choices: Array<{ file: string; choice: 'keep' | 'take' }> }
    answer: {
      id: PlanId
      target: Target
      hash: string
      made_at: string
      made_by: string
      expires_at: string
      only: 'all' | 'security'
      packages: Array<string> | null
      exclude: Array<string>
      allow_remove: boolean
      manager: 'apt' | 'apk' | 'dnf' | 'zypper' | 'pacman'
      actions: Array<{
        name: string
        arch: string
        from: string | null
        to: string | null
        action: 'upgrade' | 'install' | 'remove' | 'downgrade'
        origin: string | null
        security: boolean
        size: number | null
        source: string | null
        cves: Array<{ id: string; urgency: string | null; known_exploited: boolean }>
        status: 'planned' | 'held' | 'phased' | 'kept_back'
        reason: 'held' | 'phased' | 'kept_back_install' | 'kept_back_remove' | 'kept_back_dependencies' | null
      }>
      counts: {
        upgrade: number
        security: number
        install: number
        remove: number
        held: number
        phased: number
        kept_back: number
      }
      download_bytes: number | null
      disk_bytes: number | null
      findings: Array<{
        code:
          | 'repository_unreachable'
          | 'repository_changed'
          | 'repository_unsigned'
          | 'repository_expired'
          | 'lists_stale'
          | 'held'
          | 'phased'
          | 'kept_back_install'
          | 'kept_back_remove'
          | 'kept_back_dependencies'
          | 'dpkg_interrupted'
          | 'dependencies_broken'
          | 'disk_low'
          | 'conffile_changed'
          | 'manager_locked'
          | 'container_locked'
          | 'container_stopped'
          | 'container_template'
          | 'manager_missing'
          | 'network_missing'
          | 'root_read_only'
          | 'protection_unavailable'
          | 'self_impact'
          | 'reboot_required'
          | 'services_outdated'
          | 'end_of_life'
          | 'application_update'
          | 'other_upgrader'
          | 'security_unknown'
          | 'selection_unsupported'
        severity: 'info' | 'warning' | 'blocking'
        message: string
        packages: Array<string>
        repository: string | null
        remedy: {
          action:
            | 'retry_check'
            | 'allow_release_change'
            | 'repair_dpkg'
            | 'lift_hold'
            | 'clean_cache'
            | 'start_container'
            | 'disable_auto_upgrades'
            | 'review_conffile'
            | 'open_terminal'
          label: string
        } | null /** Of `self_impact`: what the upgrade takes away for a moment (`away`), how late the target comes among several ones, from 0 to 3 for the host (`late`), and whether the panel goes away with the target (`panel`). */
        impact?: { away: 'panel' | 'host' | 'both' | null; late: number; panel: boolean }
      }>
      conffiles: Array<{
        file: string
        package: string
        state: 'changed' | 'conflict' | 'same' | 'unavailable'
        choice: 'keep' | 'take'
        diff: string | null
        diff_cut: boolean
        diff_missing: 'binary' | 'private' | 'hidden' | null
      }>
      protection: null
      state: 'current' | 'used' | 'expired'
      job_id: JobId | null
    }
    code:
      | 'body_too_large'
      | 'conffile_unknown'
      | 'conffiles_changed'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'plan_expired'
      | 'plan_missing'
      | 'plan_of_another_user'
      | 'plan_used'
      | 'rate_limited'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** The protection of each container */
  'GET /api/updates/protection': {
    answer: {
      default: Protection
      targets: Array<{
        target: Target
        name: string
        protection: Protection
        own: boolean
        can: { snapshot: boolean | null; backup: boolean | null; why: string | null }
        snapshots: Array<{
          name: string
          made_at: string
          kind: 'snapshot' | 'backup'
          job_id: JobId | null
          ours: boolean
          present: boolean
        }>
      }>
      storages: Array<string>
    }
    code: 'enrolment_required' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** Return to the default policy of protection */
  'DELETE /api/updates/protection/{target}': {
    params: { target: string }
    answer: { message: string }
    code:
      | 'enrolment_required'
      | 'forbidden'
      | 'not_found'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'unauthenticated'
      | AnyCode
  }
  /** Set a policy of protection */
  'PUT /api/updates/protection/{target}': {
    params: { target: string }
    body: Protection
    answer: { message: string }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'not_found'
      | 'protection_invalid'
      | 'rate_limited'
      | 'step_up_required'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** Apply the remedy of a finding */
  'POST /api/updates/remedies': {
    body: {
      target: Target
      action:
        | 'retry_check'
        | 'allow_release_change'
        | 'repair_dpkg'
        | 'lift_hold'
        | 'clean_cache'
        | 'start_container'
        | 'disable_auto_upgrades'
      packages?: Array<string>
      repository?: string
    }
    answer: { job_id: JobId; message: string }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'remedy_unknown'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'step_up_required'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** Restart services */
  'POST /api/updates/restarts': {
    body: { target: Target; services: Array<string> }
    answer: { job_id: JobId; message: string }
    code:
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'service_protected'
      | 'service_unknown'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'target_invalid'
      | 'unauthenticated'
      | AnyCode
  }
  /** Start an upgrade */
  'POST /api/updates/run': {
    body: { target: Target; plan?: PlanId; protection?: Protection }
    answer: { job_id: JobId; message: string }
    code:
      | 'account_kept_out'
      | 'already_queued'
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'plan_expired'
      | 'plan_missing'
      | 'plan_of_another_target'
      | 'plan_used'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'step_up_required'
      | 'target_forbidden'
      | 'target_invalid'
      | 'target_missing'
      | 'unauthenticated'
      | AnyCode
  }
  /** Run several plans */
  'POST /api/updates/runs': {
    body: { plans: Array<PlanId> }
    answer: { run_id: RunId; jobs: Array<{ target: Target; job_id: JobId }>; message: string }
    code:
      | 'account_kept_out'
      | 'body_too_large'
      | 'enrolment_required'
      | 'forbidden'
      | 'invalid_json'
      | 'invalid_request'
      | 'plan_expired'
      | 'plan_missing'
      | 'plan_used'
      | 'profile_missing'
      | 'queue_full'
      | 'rate_limited'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'target_forbidden'
      | 'target_repeated'
      | 'unauthenticated'
      | AnyCode
  }
  /** A run of several plans */
  'GET /api/updates/runs/{id}': {
    params: { id: RunId }
    answer: {
      id: RunId
      started_at: string
      started_by_name: string
      jobs: Array<{
        job_id: JobId
        target: string
        status: 'running' | 'success' | 'error'
        started_at: string
        finished_at?: string
        exit_code: number | null
        error_code: string | null
        started_by_name: string
        containers: Array<ContainerResult> | null /** Sentences about what the end of a job does not tell: package lists that could not be refreshed, one for each repository, or for each container of `all`; snapshots that stay; an application without a newer version. */
        warnings: Array<string>
        run_id: RunId | null
        plan_id: PlanId | null /** For a job that ended with `plan_changed`: the packages whose change was not the planned one, each with `planned` and `found` as `action from to`, or null without a change. At most 1,000, and at most 20 in a list of jobs. Null for any other job. */
        plan_difference: Array<{
          name: string
          planned: string | null
          found: string | null
        }> | null /** The present step of an upgrade, of packages or an application, or of a rollback; null otherwise. */
        phase:
          | 'waiting'
          | 'refreshing'
          | 'protecting'
          | 'measuring'
          | 'upgrading'
          | 'settling'
          | 'comparing'
          | 'rolling_back'
          | 'pruning'
          | 'done'
          | null /** The outcome of such a job that has ended, apart from its `status`. Null for any other job. */
        outcome:
          | 'upgraded'
          | 'nothing_to_do'
          | 'plan_changed'
          | 'regressed'
          | 'rolled_back'
          | 'rollback_failed'
          | 'failed'
          | 'cancelled'
          | null /** The snapshot or backup that the job has made; `present` until it is removed. */
        snapshot: {
          name: string
          made_at: string
          kind: 'snapshot' | 'backup'
          present: boolean
        } | null /** The things that worked before a protected upgrade and did not after it, at most 50. */
        regressions: Array<{
          kind: 'unit' | 'socket' | 'docker' | 'podman' | 'probe' | 'container'
          name: string
          message: string
        }> /** The policy that the job runs with, from its start on; null without one. */
        protection: Protection | null /** Why a protected upgrade had no snapshot, in the hypervisor’s words. */
        unprotected: string | null /** Why nothing was upgraded, or why a rollback failed, in the hypervisor’s words. */
        reason: string | null /** How long a rollback kept the container from answering. */
        outage_seconds: number | null /** The decision about the regressions; null while there is none. */
        decided: { by: string; at: string; choice: 'keep' | 'rollback'; job_id: JobId | null } | null
        kind?: 'upgrade' | 'check' | 'remedy' | 'rollback' | 'snapshot' | 'restart' | 'reboot' | 'application'
        packages: number | null
        begun_at: string | null
      }>
    }
    code: 'enrolment_required' | 'rate_limited' | 'run_missing' | 'target_forbidden' | 'unauthenticated' | AnyCode
  }
  /** The targets with a package */
  'GET /api/updates/search': {
    query: { q: string }
    answer: { targets: Array<Target> }
    code: 'enrolment_required' | 'invalid_request' | 'rate_limited' | 'unauthenticated' | AnyCode
  }
  /** The targets of upgrades */
  'GET /api/updates/targets': {
    answer: Array<{ id: Target; name: string; status: string; vmid?: Vmid }>
    code:
      | 'enrolment_required'
      | 'host_answer_too_long'
      | 'rate_limited'
      | 'ssh_incomplete'
      | 'ssh_password_unreadable'
      | 'unauthenticated'
      | AnyCode
  }
  /** Metrics */
  'GET /metrics': {
    answer: string
    code: 'not_found' | 'rate_limited' | AnyCode
  }
}
