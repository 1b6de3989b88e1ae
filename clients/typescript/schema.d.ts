// The client of the API of Ginseng, generated from its API document. Do not edit.

export interface paths {
  '/articles': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List articles */
    get: {
      parameters: {
        query?: {
          /** up to 10 words, or beginnings of words, to search for in title and content */
          q?: string
          /** with format=csv: true begins the file with a byte order mark, so that Excel reads it as UTF-8 */
          bom?: boolean
          /** exports all rows in this format; cannot be combined with page or limit */
          format?: 'ndjson' | 'csv'
          /** equal to this value */
          userId?: string
          /** not equal to this value */
          'userId[ne]'?: string
          /** one of these values; a single value can be a comma-separated list */
          'userId[in]'?: string[]
          /** equal to this value */
          createdAt?: string
          /** greater than this value */
          'createdAt[gt]'?: string
          /** greater than or equal to this value */
          'createdAt[gte]'?: string
          /** less than this value */
          'createdAt[lt]'?: string
          /** less than or equal to this value */
          'createdAt[lte]'?: string
          /** not equal to this value */
          'createdAt[ne]'?: string
          /** one of these values; a single value can be a comma-separated list */
          'createdAt[in]'?: string[]
          /** the fields to sort by; a - before a name means descending order */
          sort?: ('title' | '-title' | 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt')[]
          /** page number, 1 by default; skips (page-1)*limit rows, at most 10,000; to skip more rows, use after */
          page?: number
          /** maximum number of rows per page */
          limit?: number
          /** the value of next in the previous page; cannot be combined with page */
          after?: string
          /** the fields to include or, with a - before each name, to exclude; id is always included */
          fields?: ('content' | '-content' | 'createdAt' | '-createdAt' | 'id' | 'title' | '-title' | 'updatedAt' | '-updatedAt' | 'userId' | '-userId')[]
          /** the references to expand; the response includes the referenced records */
          expand?: 'userId'[]
          /** true adds etag to each row: the ETag of the record, for If-Match and If-None-Match; cannot be combined with format */
          etags?: boolean
          /** false omits count from the response, which is faster */
          count?: boolean
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['ArticlePage']; 'application/x-ndjson': string; 'text/csv': string }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 insufficient_scope, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    /**
     * Create an article
     * The caller becomes the owner, unless an admin sends the ID of another user as userId.
     */
    post: {
      parameters: {
        query?: never
        header?: {
          /** a unique key that the client chooses; repeated requests with the same key create only one record */
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostArticlesBody']; 'application/x-www-form-urlencoded': components['schemas']['PostArticlesBody']; 'multipart/form-data': components['schemas']['PostArticlesBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { ETag: components['headers']['ETag']; 'Idempotency-Replayed': components['headers']['Idempotency-Replayed']; Location: components['headers']['Location']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Article'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the first request with this Idempotency-Key is still running */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** idempotency_mismatch: the Idempotency-Key was already used with other parameters */
        422: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 insufficient_scope, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/articles/changes': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * Read the changes of articles
     * Returns the created, updated and deleted records in order. The response is a page or, with Accept: text/event-stream, a stream of Server-Sent Events. To continue after an event, send its id. Each event has the newest version of the record. Several updates can be combined into one event. A deleted record has only the event deleted.
     * A stream also has the events ready (the stream begins now), resync (changes are unknown: list the records again) and end (the stream ends; code states the reason, such as unauthorized).
     */
    get: {
      parameters: {
        query?: {
          /** the owner; selects only changes of records of this user */
          userId?: string
          /** maximum number of events per page */
          limit?: number
          /** the position to continue from: the value of next in a page, or the id of an event; if absent, the feed begins now */
          after?: string
          /** the fields to include or, with a - before each name, to exclude; id is always included */
          fields?: string
          /** true adds etag to the data of each event that is not a deletion: the ETag of the record, for If-Match and If-None-Match */
          etags?: boolean
        }
        header?: {
          /** the id of the last event that the client received; takes precedence over after */
          'Last-Event-ID'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['ChangesPage']; 'text/event-stream': components['schemas']['ChangesPage'] }
        }
        /** validation_failed */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many open streams */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 insufficient_scope, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/articles/{id}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Get an article */
    get: {
      parameters: {
        query?: {
          /** the references to expand; the response includes the referenced records */
          expand?: 'userId'[]
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path: {
          /** id of one of the articles */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Article'] }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 insufficient_scope, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Change an article
     * Changes only the given fields. PUT and PATCH are the same. To clear an optional field, send null, or an empty value in a form.
     */
    put: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of one of the articles */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PutArticlesByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PutArticlesByIdBody']; 'multipart/form-data': components['schemas']['PutArticlesByIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Article'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the owner nor an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 insufficient_scope, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    post?: never
    /** Delete an article */
    delete: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to delete */
          'If-Match'?: string
        }
        path: {
          /** id of one of the articles */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the owner nor an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: other records refer to this record */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 insufficient_scope, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    /**
     * Change an article
     * Changes only the given fields. PUT and PATCH are the same. To clear an optional field, send null, or an empty value in a form.
     */
    patch: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of one of the articles */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PatchArticlesByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PatchArticlesByIdBody']; 'multipart/form-data': components['schemas']['PatchArticlesByIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Article'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the owner nor an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 insufficient_scope, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    trace?: never
  }
  '/auth': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Sign in
     * Send email and password as HTTP Basic. Also send the master key as access_token, unless PUBLIC_SIGNIN=true. Returns a user token and a refresh token. Send the user token as Authorization: Bearer TOKEN, or as access_token in the body or query. Before the user token expires, send refreshToken to POST /auth/refresh. A user can have at most 50 sessions. The next sign-in ends the least recently used session.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PostAuthBody']; 'application/x-www-form-urlencoded': components['schemas']['PostAuthBody']; 'multipart/form-data': components['schemas']['PostAuthBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['AuthResult'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the master key is missing or wrong, or email or password is wrong */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** suspended: the password is right, but an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords in 15 minutes (10 for an account from a network, 100 for an account, or 100 from a network without the master key) */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /** Sign out */
    delete: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/email-code': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    /**
     * Sign in with an emailed code
     * Send the challenge from POST /auth/email-code and the code from the email. A code is accepted once. A challenge allows 5 attempts. The header RateLimit has the number of attempts that are left. If the email address of the user was not verified, the sign-in verifies the address, ends all sessions, and removes the password, linked accounts, passkeys and API keys. With EMAIL_CODE_SIGNUP=true, the sign-in creates a user if the address is new.
     */
    put: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PutAuthEmailCodeBody']; 'application/x-www-form-urlencoded': components['schemas']['PutAuthEmailCodeBody']; 'multipart/form-data': components['schemas']['PutAuthEmailCodeBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['AuthResult'] }
        }
        /** validation_failed: for example, the code is wrong; malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the challenge is invalid, was used, has expired, had 5 wrong codes, or was invalidated by a change of the account, such as a new password (request another code); second_factor_required: two-factor sign-in is on (use the challenge in the error to send the second factor) */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** suspended: the code is right, but an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: for an account in a day, 10 wrong codes from a network, or 25 from all networks; more than 20 new users from a network in an hour */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Request a code by email
     * Emails a code of 6 digits to the user with the email address. With EMAIL_CODE_SIGNUP=true, the code is sent to any address if the request has the master key, or PUBLIC_SIGNUP=true. The response does not reveal whether there is such a user. The code is valid for 10 minutes, and only with the challenge in the response. With PUBLIC_SIGNIN=true, the master key is not required. At most 5 emails in an hour are sent to an address for each network, and 15 for all networks together. Each network from which the user has signed in has a separate limit of 5.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostAuthEmailCodeBody']; 'application/x-www-form-urlencoded': components['schemas']['PostAuthEmailCodeBody']; 'multipart/form-data': components['schemas']['PostAuthEmailCodeBody'] }
      }
      responses: {
        /** a challenge, even if the address is unknown */
        202: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['EmailCodeAccepted'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the master key is missing or wrong */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 100 requests from a network in an hour without the master key */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/identities': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List my linked accounts */
    get: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['IdentityList'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/identities/{provider}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    post?: never
    /**
     * Unlink an account
     * The user's only sign-in method cannot be removed. Set a password with a password reset first.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the provider in GET /auth/providers */
          provider: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: no account of the provider is linked */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the account is the user's only sign-in method */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/passkey': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Sign in with a passkey
     * Send the result of navigator.credentials.get as JSON in credential. A sign-in with a passkey does not require a code, even if two-factor sign-in is on.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostAuthPasskeyBody']; 'application/x-www-form-urlencoded': components['schemas']['PostAuthPasskeyBody']; 'multipart/form-data': components['schemas']['PostAuthPasskeyBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['AuthResult'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the challenge or the passkey is invalid */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** suspended: the passkey is valid, but an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 100 rejected passkeys from a network in 15 minutes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_supported: passkeys are off */
        501: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/passkey/options': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Get options to sign in with a passkey
     * Pass publicKey to navigator.credentials.get in the browser. Send the result, with challenge, to POST /auth/passkey within 5 minutes. With PUBLIC_SIGNIN=true, the master key is not required.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['PasskeySignInOptions'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the master key is missing or wrong */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 300 requests from a network in 15 minutes without the master key */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_supported: passkeys are off */
        501: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/providers': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * List providers
     * Returns what a sign-in page needs to show a button for each provider. Providers that are unavailable are omitted. To sign in, open authorizationUrl with the parameters response_type=code, client_id, redirect_uri, scope and state, and with code_challenge if pkce is true. See the guide docs/providers.md.
     */
    get: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['ProviderList'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/refresh': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Refresh a session
     * Returns a new user token and a new refresh token, which replaces the old refresh token. For 30 seconds, the old refresh token can be sent again and returns the same new refresh token, for example after a lost response or from a second tab. After that, a request with the old refresh token ends the session. An expired user token in the Authorization header is ignored.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostAuthRefreshBody']; 'application/x-www-form-urlencoded': components['schemas']['PostAuthRefreshBody']; 'multipart/form-data': components['schemas']['PostAuthRefreshBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['AuthResult'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the refresh token is unknown, has expired or was already used */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 100 invalid refresh tokens from a network in 15 minutes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/second-factor': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Sign in with the second factor
     * Send the challenge from the response 401 second_factor_required of a sign-in, and exactly one of code and recovery_code. Each code is accepted once. The challenge is valid for 5 minutes and can be used again with another code.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostAuthSecondFactorBody']; 'application/x-www-form-urlencoded': components['schemas']['PostAuthSecondFactorBody']; 'multipart/form-data': components['schemas']['PostAuthSecondFactorBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['AuthResult'] }
        }
        /** validation_failed: for example, the code is wrong, or not exactly one code was sent; malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the challenge is invalid, has expired, or was invalidated by a change of the account, such as a new password (sign in again) */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong codes (for an account, 10 from a network in 15 minutes, or 100 in a day) */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/sessions': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List my sessions */
    get: {
      parameters: {
        query?: {
          /** with format=csv: true begins the file with a byte order mark, so that Excel reads it as UTF-8 */
          bom?: boolean
          /** exports all rows in this format; cannot be combined with page or limit */
          format?: 'ndjson' | 'csv'
          /** the fields to sort by; a - before a name means descending order */
          sort?: ('createdAt' | '-createdAt' | 'lastUsedAt' | '-lastUsedAt')[]
          /** page number, 1 by default; skips (page-1)*limit rows, at most 10,000; to skip more rows, use after */
          page?: number
          /** maximum number of rows per page */
          limit?: number
          /** the value of next in the previous page; cannot be combined with page */
          after?: string
          /** the fields to include or, with a - before each name, to exclude; id is always included */
          fields?: ('amr' | '-amr' | 'createdAt' | '-createdAt' | 'current' | '-current' | 'id' | 'ip' | '-ip' | 'lastUsedAt' | '-lastUsedAt' | 'userAgent' | '-userAgent')[]
          /** false omits count from the response, which is faster */
          count?: boolean
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['SessionPage']; 'application/x-ndjson': string; 'text/csv': string }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    /** End my other sessions */
    delete: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/sessions/{id}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    post?: never
    /** End a session */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the caller's sessions */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the caller has no such session */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/{provider}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Sign in with a provider
     * Send exactly one credential from the provider: id_token (OpenID providers), code (with redirect_uri, and with code_verifier if PKCE was used), or access_token (Facebook, GitHub, Google). The provider must have issued the credential for this service. An ID token is accepted once, and at most 24 hours after it was issued. If nonce is given, it must be the nonce of the ID token. If the provider's account is not linked yet, it is linked to the user with the same email address, provided that both the provider and this service have verified the address. If there is no such user, a user is created. If the Authorization header has a user token, the provider's account is linked to that user instead, and the session of the token must have been opened within the last 10 minutes. If the account cannot be linked, detail in the error states what to do. Returns the tokens of a new session. Existing sessions continue.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the provider in GET /auth/providers */
          provider: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PostAuthByProviderBody']; 'application/x-www-form-urlencoded': components['schemas']['PostAuthByProviderBody']; 'multipart/form-data': components['schemas']['PostAuthByProviderBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['AuthResult'] }
        }
        /** validation_failed: for example, not exactly one of access_token, id_token and code; malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the provider rejects the token or code, the ID token was used before or has another nonce, or the user token in the header is invalid */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** reauthentication_required: the session of the user token was opened more than 10 minutes ago; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the provider is not configured */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the provider's account has no verified email address or cannot be linked */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: from a network, more than 300 requests or 100 rejected tokens or codes in 15 minutes, or more than 20 new users in an hour */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/batch': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Write several records in one transaction
     * Runs 1 to 100 operations in order, as the caller. Either all operations take effect or none. An operation is a POST, PUT, PATCH or DELETE of a resource. $NAME.FIELD, as a segment of a path or as a whole string in a body, is replaced by a field of the response to the earlier operation with this name. To send a string that begins with $, double the $.
     * If an operation fails, nothing is stored. The response then has the status and the problem of this operation, with the index of the operation in the field operation. The total size of the responses to the operations must not exceed 1 MiB. If the MongoDB server has no transactions, the response is 501.
     */
    post: {
      parameters: {
        query?: never
        header?: {
          /** a unique key that the client chooses; repeated requests with the same key run the batch only once */
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['BatchInput'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Batch'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller may not execute an operation; insufficient_scope: the API key lacks a scope that an operation requires */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the record of an operation does not exist */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: an operation conflicts with another record, or the operations would change or delete more than 1,000 records that refer to deleted ones, or the first request with this Idempotency-Key is still running */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record of an operation does not have the version in ifMatch */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** idempotency_mismatch: the Idempotency-Key was already used with other parameters */
        422: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_supported: the database has no transactions */
        501: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/changes': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * List changes of all resources
     * Returns who changed which records, newest first. Includes the resources that record their changes, webhooks, and users. An entry of a user is a new admin, a change of email, role or suspended, a deletion, or what an admin removed from the account of another user: sessions, twoFactor, passkeys, apiKeys or identities.
     */
    get: {
      parameters: {
        query?: {
          /** ID of the user who made the changes */
          by?: string
          /** ID of a record; requires resource */
          recordId?: string
          /** name of a resource, such as articles */
          resource?: string
          /** only changes at this time or later */
          'createdAt[gte]'?: string
          /** only changes before this time */
          'createdAt[lt]'?: string
          /** maximum number of rows per page */
          limit?: number
          /** the value of next in the previous page */
          after?: string
        }
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['ChangePage'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/email-verifications/{token}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * Get an email verification
     * Returns the purpose of the link, if the link is still valid. This request does not use up the link.
     */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** the token in the link */
          token: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['EmailVerification'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the token is unknown, was used or has expired */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Confirm an email verification
     * The effect depends on the purpose of the link. verify: marks the email address as verified. change: sets the new email address and ends all sessions. The former address receives an email with a link that can undo the change for 7 days. undo: restores the former email address, ends all sessions, and removes the password, linked accounts, passkeys and API keys. To set a new password, request a password reset.
     */
    put: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** the token in the link */
          token: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['User'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the token is unknown, was used or has expired */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the address is in use, or was in use until recently */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/emails': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * List unsent emails
     * Returns the emails that are waiting to be sent, and the emails that failed in the last day.
     */
    get: {
      parameters: {
        query?: {
          /** with format=csv: true begins the file with a byte order mark, so that Excel reads it as UTF-8 */
          bom?: boolean
          /** exports all rows in this format; cannot be combined with page or limit */
          format?: 'ndjson' | 'csv'
          /** equal to this value */
          status?: 'pending' | 'failed'
          /** not equal to this value */
          'status[ne]'?: 'pending' | 'failed'
          /** one of these values; a single value can be a comma-separated list */
          'status[in]'?: ('pending' | 'failed')[]
          /** the fields to sort by; a - before a name means descending order */
          sort?: ('createdAt' | '-createdAt')[]
          /** page number, 1 by default; skips (page-1)*limit rows, at most 10,000; to skip more rows, use after */
          page?: number
          /** maximum number of rows per page */
          limit?: number
          /** the value of next in the previous page; cannot be combined with page */
          after?: string
          /** the fields to include or, with a - before each name, to exclude; id is always included */
          fields?: ('attempts' | '-attempts' | 'createdAt' | '-createdAt' | 'error' | '-error' | 'id' | 'kind' | '-kind' | 'nextAttemptAt' | '-nextAttemptAt' | 'status' | '-status' | 'userId' | '-userId')[]
          /** false omits count from the response, which is faster */
          count?: boolean
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['QueuedEmailPage']; 'application/x-ndjson': string; 'text/csv': string }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 insufficient_scope, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/emails/{id}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    post?: never
    /**
     * Delete an unsent email
     * The email is not sent.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the emails */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: there is no such email; it may have been sent */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the email is being sent */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 insufficient_scope, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/emails/{id}/retry': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Send an email now
     * Makes an email due, also one that failed, and responds before it is sent. If the attempt fails, others follow as for a new email.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the emails */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** Accepted */
        202: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['QueuedEmail'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: there is no such email; it may have been sent */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the email is being sent */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 insufficient_scope, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/jobs': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * List jobs
     * Returns the periodic work of the service, with the last runs on any instance.
     */
    get: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['JobList'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 insufficient_scope, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/jobs/{name}/run': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Run a job now
     * Makes the job due, and responds before it runs. The instance that receives the request runs the job immediately.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** name of the job */
          name: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** Accepted */
        202: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Job'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: there is no such job */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the job is running */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 insufficient_scope, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/mcp': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Send a Model Context Protocol message
     * Provides agents with tools that read and write the resources as the caller. The protocol is Streamable HTTP without sessions (https://modelcontextprotocol.io). Send the user token or API key in the header Authorization.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['MCPMessage'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['MCPReply'] }
        }
        /** Accepted */
        202: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the header Origin is not one of CORS_ORIGINS */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/organization-invitations/{token}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * Get an invitation
     * Returns the organization of the link, if the invitation is open. This request does not use it up.
     */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** the token in the link */
          token: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['OrganizationInvitationOpen'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the invitation was used or withdrawn, or has expired */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Accept an invitation
     * Makes the caller a member. The invitation must have been sent to the verified address of the caller.
     */
    put: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** the token in the link */
          token: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['OrganizationMember'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the invitation is for another address, or the address of the caller is not verified */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the invitation was used or withdrawn, or has expired */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the organization has 1,000 members, or the caller is a member of 50 organizations */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/organizations': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * List organizations
     * Returns the organizations of which the caller is a member, with the role of the caller. Admins of the service get all organizations.
     */
    get: {
      parameters: {
        query?: {
          /** up to 10 words, or beginnings of words, to search for in name */
          q?: string
          /** with format=csv: true begins the file with a byte order mark, so that Excel reads it as UTF-8 */
          bom?: boolean
          /** exports all rows in this format; cannot be combined with page or limit */
          format?: 'ndjson' | 'csv'
          /** equal to this value */
          createdAt?: string
          /** greater than this value */
          'createdAt[gt]'?: string
          /** greater than or equal to this value */
          'createdAt[gte]'?: string
          /** less than this value */
          'createdAt[lt]'?: string
          /** less than or equal to this value */
          'createdAt[lte]'?: string
          /** not equal to this value */
          'createdAt[ne]'?: string
          /** one of these values; a single value can be a comma-separated list */
          'createdAt[in]'?: string[]
          /** the fields to sort by; a - before a name means descending order */
          sort?: ('name' | '-name' | 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt')[]
          /** page number, 1 by default; skips (page-1)*limit rows, at most 10,000; to skip more rows, use after */
          page?: number
          /** maximum number of rows per page */
          limit?: number
          /** the value of next in the previous page; cannot be combined with page */
          after?: string
          /** the fields to include or, with a - before each name, to exclude; id is always included */
          fields?: ('createdAt' | '-createdAt' | 'id' | 'name' | '-name' | 'role' | '-role' | 'updatedAt' | '-updatedAt')[]
          /** true adds etag to each row: the ETag of the record, for If-Match and If-None-Match; cannot be combined with format */
          etags?: boolean
          /** false omits count from the response, which is faster */
          count?: boolean
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['OrganizationPage']; 'application/x-ndjson': string; 'text/csv': string }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    /**
     * Create an organization
     * The caller becomes its owner. A user can be a member of at most 50 organizations.
     */
    post: {
      parameters: {
        query?: never
        header?: {
          /** a unique key that the client chooses; repeated requests with the same key create only one record */
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostOrganizationsBody']; 'application/x-www-form-urlencoded': components['schemas']['PostOrganizationsBody']; 'multipart/form-data': components['schemas']['PostOrganizationsBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { ETag: components['headers']['ETag']; 'Idempotency-Replayed': components['headers']['Idempotency-Replayed']; Location: components['headers']['Location']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Organization'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the caller is a member of 50 organizations, or the first request with this Idempotency-Key is still running */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** idempotency_mismatch: the Idempotency-Key was already used with other parameters */
        422: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/organizations/{id}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Get an organization */
    get: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path: {
          /** id of one of the organizations */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Organization'] }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    /**
     * Delete an organization
     * The organization and everything that belongs to it no longer exist for its members. A job deletes the records in portions. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to delete */
          'If-Match'?: string
        }
        path: {
          /** id of one of the organizations */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteOrganizationsByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteOrganizationsByIdBody']; 'multipart/form-data': components['schemas']['DeleteOrganizationsByIdBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is no owner of the organization; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    /** Change an organization */
    patch: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of one of the organizations */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PatchOrganizationsByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PatchOrganizationsByIdBody']; 'multipart/form-data': components['schemas']['PatchOrganizationsByIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Organization'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither an owner nor an admin of the organization */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    trace?: never
  }
  '/organizations/{id}/invitations': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * List the open invitations of an organization
     * Returns all open invitations, at most 100, the newest first.
     */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the organizations */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['OrganizationInvitations'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither an owner nor an admin of the organization */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    /**
     * Invite somebody to an organization
     * Emails a link with which the owner of the address becomes a member. The response does not reveal whether the address is known. A second invitation to an address replaces the first. In the link parameter, {token} is replaced by the token. If link does not contain {token}, the token is appended to the path. If exactly one page in INVITATION_LINK_ORIGINS has a path, link is optional and defaults to that page. At most 5 invitations in an hour are sent to an address.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the organizations */
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostOrganizationsByIdInvitationsBody']; 'application/x-www-form-urlencoded': components['schemas']['PostOrganizationsByIdInvitationsBody']; 'multipart/form-data': components['schemas']['PostOrganizationsByIdInvitationsBody'] }
      }
      responses: {
        /** an empty object, even if the address is a member's */
        202: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['OrganizationInvited'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the role of the caller does not allow the invitation */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the organization has 100 open invitations */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 100 invitations of the caller in an hour */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/organizations/{id}/invitations/{invitationId}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    post?: never
    /** Withdraw an invitation */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** the ID of the invitation */
          invitationId: string
          /** id of one of the organizations */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither an owner nor an admin of the organization */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/organizations/{id}/members': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * List the members of an organization
     * Returns all members, at most 1,000, owners first.
     */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the organizations */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['OrganizationMembers'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/organizations/{id}/members/{userId}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    post?: never
    /**
     * Remove a member
     * Owners and admins of the organization remove members; only owners remove owners. Members can leave. The last owner cannot.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** the ID of the user */
          userId: string
          /** id of one of the organizations */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the role of the caller does not allow the removal */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the organization would have no owner */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    /**
     * Change the role of a member
     * Owners and admins of the organization change roles. Only owners change owners and make others owners. The last owner keeps the role.
     */
    patch: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** the ID of the user */
          userId: string
          /** id of one of the organizations */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PatchOrganizationsByIdMembersByUserIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PatchOrganizationsByIdMembersByUserIdBody']; 'multipart/form-data': components['schemas']['PatchOrganizationsByIdMembersByUserIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['OrganizationMember'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the role of the caller does not allow the change */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the organization would have no owner */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    trace?: never
  }
  '/password-resets': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Request a password reset
     * Emails a link to the user with the email address. The response does not reveal whether there is such a user. In the link parameter, {token} is replaced by the token. If link does not contain {token}, the token is appended to the path. If exactly one page in RESET_LINK_ORIGINS has a path, link is optional and defaults to that page. With PUBLIC_SIGNIN=true, the master key is not required. At most 5 emails in an hour are sent to an address.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostPasswordResetsBody']; 'application/x-www-form-urlencoded': components['schemas']['PostPasswordResetsBody']; 'multipart/form-data': components['schemas']['PostPasswordResetsBody'] }
      }
      responses: {
        /** an empty object, even if the address is unknown */
        202: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['PasswordResetAccepted'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the master key is missing or wrong */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 100 requests from a network in an hour without the master key */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/password-resets/{token}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * Get a password reset
     * Returns the user of the link, if the link is still valid. This request does not use up the link.
     */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** the token in the link */
          token: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['PasswordReset'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the token is unknown, was used or has expired */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Set a new password
     * Sets the password and marks the email address as verified. Ends all sessions of the user, invalidates all resets, linked accounts, passkeys and API keys, and resets the rate limits of sign-ins to the account.
     */
    put: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** the token in the link */
          token: string
        }
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PutPasswordResetsByTokenBody']; 'application/x-www-form-urlencoded': components['schemas']['PutPasswordResetsByTokenBody']; 'multipart/form-data': components['schemas']['PutPasswordResetsByTokenBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['User'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the token is unknown, was used or has expired */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/policies': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List policies */
    get: {
      parameters: {
        query?: {
          /** with format=csv: true begins the file with a byte order mark, so that Excel reads it as UTF-8 */
          bom?: boolean
          /** exports all rows in this format; cannot be combined with page or limit */
          format?: 'ndjson' | 'csv'
          /** equal to this value */
          namespace?: string
          /** greater than this value */
          'namespace[gt]'?: string
          /** greater than or equal to this value */
          'namespace[gte]'?: string
          /** less than this value */
          'namespace[lt]'?: string
          /** less than or equal to this value */
          'namespace[lte]'?: string
          /** not equal to this value */
          'namespace[ne]'?: string
          /** one of these values; a single value can be a comma-separated list */
          'namespace[in]'?: string[]
          /** equal to this value */
          name?: string
          /** greater than this value */
          'name[gt]'?: string
          /** greater than or equal to this value */
          'name[gte]'?: string
          /** less than this value */
          'name[lt]'?: string
          /** less than or equal to this value */
          'name[lte]'?: string
          /** not equal to this value */
          'name[ne]'?: string
          /** one of these values; a single value can be a comma-separated list */
          'name[in]'?: string[]
          /** the fields to sort by; a - before a name means descending order */
          sort?: ('name' | '-name' | 'createdAt' | '-createdAt')[]
          /** page number, 1 by default; skips (page-1)*limit rows, at most 10,000; to skip more rows, use after */
          page?: number
          /** maximum number of rows per page */
          limit?: number
          /** the value of next in the previous page; cannot be combined with page */
          after?: string
          /** the fields to include or, with a - before each name, to exclude; id is always included */
          fields?: ('createdAt' | '-createdAt' | 'id' | 'name' | '-name' | 'namespace' | '-namespace' | 'selector' | '-selector' | 'updatedAt' | '-updatedAt')[]
          /** true adds etag to each row: the ETag of the record, for If-Match and If-None-Match; cannot be combined with format */
          etags?: boolean
          /** false omits count from the response, which is faster */
          count?: boolean
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['PolicyPage']; 'application/x-ndjson': string; 'text/csv': string }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    /**
     * Create a policy
     * A policy applies to the workloads of its namespace that have all labels of its selector with exactly these values. A policy without a selector applies to every workload of its namespace. In a JSON body, selector is an object: {"namespace": "shop", "name": "reviews-v2", "selector": {"matchLabels": {"app": "reviews", "version": "v2"}}}. In a form, selector is the JSON text of this object.
     */
    post: {
      parameters: {
        query?: never
        header?: {
          /** a unique key that the client chooses; repeated requests with the same key create only one record */
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostPoliciesBody']; 'application/x-www-form-urlencoded': components['schemas']['PostPoliciesBody']; 'multipart/form-data': components['schemas']['PostPoliciesBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { ETag: components['headers']['ETag']; 'Idempotency-Replayed': components['headers']['Idempotency-Replayed']; Location: components['headers']['Location']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Policy'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the namespace already has a policy with this name, or the first request with this Idempotency-Key is still running */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** idempotency_mismatch: the Idempotency-Key was already used with other parameters */
        422: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/policies/evaluate': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Find the policies that apply to a proxy
     * Considers only policies of the namespace. A policy applies if it has no selector, or if the proxy has all labels of the selector with exactly these values. The labels of the proxy come from three sources: instance (the registry's data about the pod or virtual machine), handshake and metadata (both sent by the proxy). If several sources have the same key, instance takes precedence over handshake, and handshake over metadata. A source has at most 4,096 labels. The values are strings.
     * In a JSON body, each source is an object: {"namespace": "shop", "metadata": {"labels": {"app": "reviews", "version": "v1"}}, "instance": {"labels": {"version": "v2"}}, "explain": true}. In a form, each source is the JSON text of its object. The proxy in this example has the labels app=reviews and version=v2.
     * The result includes every change that any instance of the service acknowledged before the request. The response is a page with at most 1 MiB of policies. To get the next page, repeat the request with the parameter after, set to the value of next.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostPoliciesEvaluateBody']; 'application/x-www-form-urlencoded': components['schemas']['PostPoliciesEvaluateBody']; 'multipart/form-data': components['schemas']['PostPoliciesEvaluateBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['PolicyEvaluation'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/policies/{id}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Get a policy */
    get: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path: {
          /** id of one of the policies */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Policy'] }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Change a policy
     * Changes only the given fields. PUT and PATCH are the same. A selector replaces the previous selector completely. If selector is null, the selector is removed, and the policy applies to every workload of its namespace. The namespace cannot be changed.
     */
    put: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of one of the policies */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PutPoliciesByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PutPoliciesByIdBody']; 'multipart/form-data': components['schemas']['PutPoliciesByIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Policy'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the namespace has another policy with this name */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    post?: never
    /** Delete a policy */
    delete: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to delete */
          'If-Match'?: string
        }
        path: {
          /** id of one of the policies */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    /**
     * Change a policy
     * Changes only the given fields. PUT and PATCH are the same. A selector replaces the previous selector completely. If selector is null, the selector is removed, and the policy applies to every workload of its namespace. The namespace cannot be changed.
     */
    patch: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of one of the policies */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PatchPoliciesByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PatchPoliciesByIdBody']; 'multipart/form-data': components['schemas']['PatchPoliciesByIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Policy'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the namespace has another policy with this name */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    trace?: never
  }
  '/users': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List users */
    get: {
      parameters: {
        query?: {
          /** up to 10 words, or beginnings of words, to search for in name and email */
          q?: string
          /** with format=csv: true begins the file with a byte order mark, so that Excel reads it as UTF-8 */
          bom?: boolean
          /** exports all rows in this format; cannot be combined with page or limit */
          format?: 'ndjson' | 'csv'
          /** equal to this value */
          email?: string
          /** not equal to this value */
          'email[ne]'?: string
          /** one of these values; a single value can be a comma-separated list */
          'email[in]'?: string[]
          /** equal to this value */
          role?: 'user' | 'admin'
          /** not equal to this value */
          'role[ne]'?: 'user' | 'admin'
          /** one of these values; a single value can be a comma-separated list */
          'role[in]'?: ('user' | 'admin')[]
          /** equal to this value */
          createdAt?: string
          /** greater than this value */
          'createdAt[gt]'?: string
          /** greater than or equal to this value */
          'createdAt[gte]'?: string
          /** less than this value */
          'createdAt[lt]'?: string
          /** less than or equal to this value */
          'createdAt[lte]'?: string
          /** not equal to this value */
          'createdAt[ne]'?: string
          /** one of these values; a single value can be a comma-separated list */
          'createdAt[in]'?: string[]
          /** equal to this value */
          emailVerified?: boolean
          /** not equal to this value */
          'emailVerified[ne]'?: boolean
          /** equal to this value */
          suspended?: boolean
          /** not equal to this value */
          'suspended[ne]'?: boolean
          /** the fields to sort by; a - before a name means descending order */
          sort?: ('name' | '-name' | 'email' | '-email' | 'createdAt' | '-createdAt')[]
          /** page number, 1 by default; skips (page-1)*limit rows, at most 10,000; to skip more rows, use after */
          page?: number
          /** maximum number of rows per page */
          limit?: number
          /** the value of next in the previous page; cannot be combined with page */
          after?: string
          /** the fields to include or, with a - before each name, to exclude; id is always included */
          fields?: ('createdAt' | '-createdAt' | 'email' | '-email' | 'emailVerified' | '-emailVerified' | 'hasPassword' | '-hasPassword' | 'id' | 'name' | '-name' | 'picture' | '-picture' | 'role' | '-role' | 'suspended' | '-suspended')[]
          /** true adds etag to each row: the ETag of the record, for If-Match and If-None-Match; cannot be combined with format */
          etags?: boolean
          /** false omits count from the response, which is faster */
          count?: boolean
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['UserPage']; 'application/x-ndjson': string; 'text/csv': string }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    /**
     * Sign up
     * Creates an account. With PUBLIC_SIGNUP=true, only requests with role require the master key.
     */
    post: {
      parameters: {
        query?: never
        header?: {
          /** a unique key that the client chooses; repeated requests with the same key create only one record */
          'Idempotency-Key'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostUsersBody']; 'application/x-www-form-urlencoded': components['schemas']['PostUsersBody']; 'multipart/form-data': components['schemas']['PostUsersBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { ETag: components['headers']['ETag']; 'Idempotency-Replayed': components['headers']['Idempotency-Replayed']; Location: components['headers']['Location']; RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['User'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the master key is missing or wrong */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the request has a role but no master key */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the email address is in use, or the first request with this Idempotency-Key is still running */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** idempotency_mismatch: the Idempotency-Key was already used with other parameters */
        422: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 20 sign-ups from a network in an hour without the master key */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/me': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Get the signed-in user */
    get: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['User'] }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/me/api-keys': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Create an API key
     * The key is returned only in this response. A program sends the key as Authorization: Bearer KEY, and acts as the user on the resources that the scopes name. If a scope is unknown, the error lists the valid scopes. A user can have at most 50 keys. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostUsersMeApiKeysBody']; 'application/x-www-form-urlencoded': components['schemas']['PostUsersMeApiKeysBody']; 'multipart/form-data': components['schemas']['PostUsersMeApiKeysBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['APIKeyCreated'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the user token is missing or invalid, or email or password is wrong */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: only admins can create a key with the scope admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the user already has 50 API keys */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/me/email': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    /**
     * Change the email address
     * Emails a link to the new address. The address of the user changes when the link is confirmed. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    put: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PutUsersMeEmailBody']; 'application/x-www-form-urlencoded': components['schemas']['PutUsersMeEmailBody']; 'multipart/form-data': components['schemas']['PutUsersMeEmailBody'] }
      }
      responses: {
        /** an empty object */
        202: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['EmailVerificationAccepted'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the user token is missing or invalid, or email or password is wrong */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the address is in use, or was in use until recently */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 5 requests per account, 5 emails per address or 100 requests per network in an hour, too many wrong passwords (the limits of POST /auth), or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/me/email-verification': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Request a verification email
     * Emails a link that verifies the email address of the user. In the link parameter, {token} is replaced by the token. If link does not contain {token}, the token is appended to the path. If exactly one page in VERIFY_LINK_ORIGINS has a path, link is optional and defaults to that page, and an email is also sent at sign-up. At most 5 verification emails in an hour are sent to an address.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PostUsersMeEmailVerificationBody']; 'application/x-www-form-urlencoded': components['schemas']['PostUsersMeEmailVerificationBody']; 'multipart/form-data': components['schemas']['PostUsersMeEmailVerificationBody'] }
      }
      responses: {
        /** an empty object */
        202: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['EmailVerificationAccepted'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the address is already verified */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 5 verification emails per address or 100 requests per network in an hour */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/me/passkeys': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List my passkeys */
    get: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['PasskeyList'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    /**
     * Register a passkey
     * Send the result of navigator.credentials.create as JSON in credential. Passkeys are also deleted when the user resets the password or undoes a change of the email address.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostUsersMePasskeysBody']; 'application/x-www-form-urlencoded': components['schemas']['PostUsersMePasskeysBody']; 'multipart/form-data': components['schemas']['PostUsersMePasskeysBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { ETag: components['headers']['ETag']; Location: components['headers']['Location']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Passkey'] }
        }
        /** validation_failed: for example, the challenge has expired or was used, or the credential is invalid; malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the passkey is already registered, or the user already has 20 passkeys */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_supported: passkeys are off */
        501: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/me/passkeys/options': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Get options for a new passkey
     * Pass publicKey to navigator.credentials.create in the browser. Send the result, with challenge, to POST /users/me/passkeys within 5 minutes. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PostUsersMePasskeysOptionsBody']; 'application/x-www-form-urlencoded': components['schemas']['PostUsersMePasskeysOptionsBody']; 'multipart/form-data': components['schemas']['PostUsersMePasskeysOptionsBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['PasskeyRegistrationOptions'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the user already has 20 passkeys */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: more than 50 registrations for the account in 15 minutes, too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_supported: passkeys are off */
        501: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/me/passkeys/{id}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Get one of my passkeys */
    get: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path: {
          /** id of one of the passkeys */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Passkey'] }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the caller has no such passkey */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    /**
     * Delete a passkey
     * Deletes the passkey. Ends the caller's other sessions, because they may have been opened with the passkey. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to delete */
          'If-Match'?: string
        }
        path: {
          /** id of one of the passkeys */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteUsersMePasskeysByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteUsersMePasskeysByIdBody']; 'multipart/form-data': components['schemas']['DeleteUsersMePasskeysByIdBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the caller has no such passkey */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    /**
     * Rename a passkey
     * Changes the name of the passkey. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    patch: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of one of the passkeys */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PatchUsersMePasskeysByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PatchUsersMePasskeysByIdBody']; 'multipart/form-data': components['schemas']['PatchUsersMePasskeysByIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Passkey'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the caller has no such passkey */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    trace?: never
  }
  '/users/me/two-factor': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Get my second factor */
    get: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['TwoFactor'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Confirm my second factor
     * Turns on two-factor sign-in and ends the caller's other sessions. Send a first code of the authenticator app. Returns 10 recovery codes. The recovery codes are returned only in this response.
     */
    put: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PutUsersMeTwoFactorBody']; 'application/x-www-form-urlencoded': components['schemas']['PutUsersMeTwoFactorBody']; 'multipart/form-data': components['schemas']['PutUsersMeTwoFactorBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['TwoFactorRecoveryCodes'] }
        }
        /** validation_failed: for example, the code is wrong; malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: two-factor sign-in is already on, or there is no second factor to confirm */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong codes (for an account, 10 from a network in 15 minutes, or 100 in a day) */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Begin two-factor enrolment
     * Returns the secret for an authenticator app. Sign-in requires a code only after PUT /users/me/two-factor has confirmed the secret. Another call replaces a secret that is not confirmed. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PostUsersMeTwoFactorBody']; 'application/x-www-form-urlencoded': components['schemas']['PostUsersMeTwoFactorBody']; 'multipart/form-data': components['schemas']['PostUsersMeTwoFactorBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['TwoFactorEnrolment'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the user token is missing or invalid, email or password is wrong, or the account was deleted */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: two-factor sign-in is already on */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Turn my second factor off
     * Turns off two-factor sign-in. A request with a user token ends the caller's other sessions. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteUsersMeTwoFactorBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteUsersMeTwoFactorBody']; 'multipart/form-data': components['schemas']['DeleteUsersMeTwoFactorBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed: for example, the code is wrong, or both codes were sent; malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the user token is missing or invalid, or email or password is wrong */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: two-factor sign-in is off */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * Get a user
     * Everybody can read id, name and picture. The user and admins can read all fields if they send their token.
     */
    get: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path: {
          /** id of one of the users */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** all fields for the user and for admins; only id, name and picture for others */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['UserSeen'] }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Change a user
     * Changes only the given fields. PUT and PATCH are the same. An empty name or picture is replaced by the default. Only admins can change email, role and suspended, and only with the token of a session that was opened in the last 10 minutes. A new email address and a suspension end the user's sessions. If an admin changes the address of another user, the links that undo earlier changes become invalid.
     */
    put: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of the user, or me */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PutUsersByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PutUsersByIdBody']; 'multipart/form-data': components['schemas']['PutUsersByIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['User'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the user nor an admin, changes role or suspended without being an admin, or suspends their own account; reauthentication_required: the caller changes email, role or suspended, and the session was opened more than 10 minutes ago */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the email address is in use */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    post?: never
    /**
     * Delete a user
     * While a change of the email address can still be undone (7 days), only an admin can delete the account. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to delete */
          'If-Match'?: string
        }
        path: {
          /** id of the user, or me */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteUsersByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteUsersByIdBody']; 'multipart/form-data': components['schemas']['DeleteUsersByIdBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the user nor an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: other records refer to the user, or a change of the address can still be undone */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    /**
     * Change a user
     * Changes only the given fields. PUT and PATCH are the same. An empty name or picture is replaced by the default. Only admins can change email, role and suspended, and only with the token of a session that was opened in the last 10 minutes. A new email address and a suspension end the user's sessions. If an admin changes the address of another user, the links that undo earlier changes become invalid.
     */
    patch: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of the user, or me */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PatchUsersByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PatchUsersByIdBody']; 'multipart/form-data': components['schemas']['PatchUsersByIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['User'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the user nor an admin, changes role or suspended without being an admin, or suspends their own account; reauthentication_required: the caller changes email, role or suspended, and the session was opened more than 10 minutes ago */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the email address is in use */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    trace?: never
  }
  '/users/{id}/api-keys': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List API keys */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the user, or me */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['APIKeyList'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the user nor an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/api-keys/{keyId}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Get an API key */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the user, or me */
          id: string
          /** id of one of the api keys */
          keyId: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['APIKey'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the user nor an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    /**
     * Delete an API key
     * The key becomes invalid immediately. For a key of another user, requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the user, or me */
          id: string
          /** id of the API key */
          keyId: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteUsersByIdApiKeysByKeyIdBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteUsersByIdApiKeysByKeyIdBody']; 'multipart/form-data': components['schemas']['DeleteUsersByIdApiKeysByKeyIdBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the user nor an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/identities': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List the linked accounts of a user */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the users */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['IdentityList'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 insufficient_scope, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/identities/{provider}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    post?: never
    /**
     * Unlink an account of a user
     * Unlinks the account and notifies the user by email. If it was the only sign-in method of the user, the user sets a password with a password reset. To end the sessions that were opened with the account, call DELETE /users/{id}/sessions. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the user */
          id: string
          /** id of the provider in GET /auth/providers */
          provider: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteUsersByIdIdentitiesByProviderBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteUsersByIdIdentitiesByProviderBody']; 'multipart/form-data': components['schemas']['DeleteUsersByIdIdentitiesByProviderBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: no account of the provider is linked */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the user is the caller, and the account is their only sign-in method */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/passkeys': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List the passkeys of a user */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the user */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['PasskeyList'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/passkeys/{passkeyId}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    post?: never
    /**
     * Delete a passkey of a user
     * Deletes the passkey and notifies the user by email. To end the sessions that were opened with the passkey, call DELETE /users/{id}/sessions. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the user */
          id: string
          /** id of the passkey */
          passkeyId: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteUsersByIdPasskeysByPasskeyIdBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteUsersByIdPasskeysByPasskeyIdBody']; 'multipart/form-data': components['schemas']['DeleteUsersByIdPasskeysByPasskeyIdBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the user has no such passkey */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/password': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    /**
     * Change a password
     * Changes the password and ends all other sessions of the user. If your server calls this operation for many users, also send the master key as access_token. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    put: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of the user, or me */
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PutUsersByIdPasswordBody']; 'application/x-www-form-urlencoded': components['schemas']['PutUsersByIdPasswordBody']; 'multipart/form-data': components['schemas']['PutUsersByIdPasswordBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['User'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized: the user token is missing or invalid, or email or password is wrong */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the user is not the caller; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/picture': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Read a picture */
    get: {
      parameters: {
        query?: {
          /** ignored; the URL of another picture has another value */
          v?: string
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
          /** one range of bytes, such as bytes=0-1023 */
          Range?: string
          /** the ETag of the file that the range is of */
          'If-Range'?: string
        }
        path: {
          /** id of one of the users */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** the image */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { '*/*': string }
        }
        /** the range of the image */
        206: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { '*/*': string }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** range_not_satisfiable: the range begins after the end of the file */
        416: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_supported: the service has no storage for files */
        501: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    /**
     * Store a picture
     * The body is the image, with any Content-Type, or a form with the image in one part: PNG, JPEG, GIF or WebP of at most 50 megapixels. The field picture of the user is then its URL.
     */
    put: {
      parameters: {
        query?: {
          /** the name of the file, if Content-Disposition does not have it */
          filename?: string
        }
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of the user, or me */
          id: string
        }
        cookie?: never
      }
      requestBody: {
        content: { 'application/octet-stream': string; 'multipart/form-data': components['schemas']['PutUsersByIdPictureBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['User'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the user nor an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** payload_too_large: the file is larger than 5000000 bytes; quota_exceeded: the files of the user would be larger than FILES_QUOTA */
        413: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_supported: the service has no storage for files, or PUBLIC_URL is not set */
        501: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    post?: never
    /**
     * Delete a picture
     * The user then has the default picture.
     */
    delete: {
      parameters: {
        query?: never
        header?: {
          /** the ETag of the version to change */
          'If-Match'?: string
        }
        path: {
          /** id of the user, or me */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** No Content */
        204: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the user nor an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** precondition_failed: the record does not have the version in If-Match */
        412: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_supported: the service has no storage for files */
        501: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/sessions': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List the sessions of a user */
    get: {
      parameters: {
        query?: {
          /** with format=csv: true begins the file with a byte order mark, so that Excel reads it as UTF-8 */
          bom?: boolean
          /** exports all rows in this format; cannot be combined with page or limit */
          format?: 'ndjson' | 'csv'
          /** the fields to sort by; a - before a name means descending order */
          sort?: ('createdAt' | '-createdAt' | 'lastUsedAt' | '-lastUsedAt')[]
          /** page number, 1 by default; skips (page-1)*limit rows, at most 10,000; to skip more rows, use after */
          page?: number
          /** maximum number of rows per page */
          limit?: number
          /** the value of next in the previous page; cannot be combined with page */
          after?: string
          /** the fields to include or, with a - before each name, to exclude; id is always included */
          fields?: ('amr' | '-amr' | 'createdAt' | '-createdAt' | 'current' | '-current' | 'id' | 'ip' | '-ip' | 'lastUsedAt' | '-lastUsedAt' | 'userAgent' | '-userAgent')[]
          /** false omits count from the response, which is faster */
          count?: boolean
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path: {
          /** id of one of the users */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['SessionPage']; 'application/x-ndjson': string; 'text/csv': string }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 insufficient_scope, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    /**
     * End all sessions of a user
     * Also invalidates the links that the user has received by email. Links that undo a change of the email address stay valid, unless an admin ends the sessions of another user. For another user, requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the user, or me */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteUsersByIdSessionsBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteUsersByIdSessionsBody']; 'multipart/form-data': components['schemas']['DeleteUsersByIdSessionsBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is neither the user nor an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/sessions/{sessionId}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    post?: never
    /**
     * End a session of a user
     * Ends the session and notifies the user by email. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of the user */
          id: string
          /** id of the session */
          sessionId: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteUsersByIdSessionsBySessionIdBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteUsersByIdSessionsBySessionIdBody']; 'multipart/form-data': components['schemas']['DeleteUsersByIdSessionsBySessionIdBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: the user has no such session */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/users/{id}/two-factor': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Get a user's second factor */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the users */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['TwoFactor'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 insufficient_scope, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    /**
     * Turn a user's second factor off
     * Turns off two-factor sign-in for a user who has lost the device and the recovery codes. The user is notified by email. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the users */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteUsersByIdTwoFactorBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteUsersByIdTwoFactorBody']; 'multipart/form-data': components['schemas']['DeleteUsersByIdTwoFactorBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin, or the user is the caller (use DELETE /users/me/two-factor); reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found: no such user, or the user has no second factor */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/webhooks': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** List webhooks */
    get: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['WebhookList'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    /**
     * Create a webhook
     * Sends the selected events to url in requests that are signed according to Standard Webhooks. An event contains the record as everybody may read it, or only its id if the record is not public. The secret is returned only in this response. If an event is unknown, the error lists the valid events. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path?: never
        cookie?: never
      }
      requestBody: {
        content: { 'application/json': components['schemas']['PostWebhooksBody']; 'application/x-www-form-urlencoded': components['schemas']['PostWebhooksBody']; 'multipart/form-data': components['schemas']['PostWebhooksBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['WebhookCreated'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: there are already 100 webhooks */
        409: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/webhooks/{id}': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /** Get a webhook */
    get: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the webhooks */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Webhook'] }
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    /**
     * Delete a webhook
     * Also deletes the deliveries of the webhook. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    delete: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the webhooks */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['DeleteWebhooksByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['DeleteWebhooksByIdBody']; 'multipart/form-data': components['schemas']['DeleteWebhooksByIdBody'] }
      }
      responses: {
        /** No Content */
        204: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    options?: never
    head?: never
    /**
     * Change a webhook
     * Changes only the given fields. A webhook that is enabled again receives only later events. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    patch: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the webhooks */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PatchWebhooksByIdBody']; 'application/x-www-form-urlencoded': components['schemas']['PatchWebhooksByIdBody']; 'multipart/form-data': components['schemas']['PatchWebhooksByIdBody'] }
      }
      responses: {
        /** OK */
        200: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['Webhook'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    trace?: never
  }
  '/webhooks/{id}/deliveries': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    /**
     * List the deliveries of a webhook
     * Returns the deliveries of the last 7 days.
     */
    get: {
      parameters: {
        query?: {
          /** with format=csv: true begins the file with a byte order mark, so that Excel reads it as UTF-8 */
          bom?: boolean
          /** exports all rows in this format; cannot be combined with page or limit */
          format?: 'ndjson' | 'csv'
          /** equal to this value */
          status?: 'pending' | 'delivered' | 'failed'
          /** not equal to this value */
          'status[ne]'?: 'pending' | 'delivered' | 'failed'
          /** one of these values; a single value can be a comma-separated list */
          'status[in]'?: ('pending' | 'delivered' | 'failed')[]
          /** the fields to sort by; a - before a name means descending order */
          sort?: ('createdAt' | '-createdAt')[]
          /** page number, 1 by default; skips (page-1)*limit rows, at most 10,000; to skip more rows, use after */
          page?: number
          /** maximum number of rows per page */
          limit?: number
          /** the value of next in the previous page; cannot be combined with page */
          after?: string
          /** the fields to include or, with a - before each name, to exclude; id is always included */
          fields?: ('attempts' | '-attempts' | 'createdAt' | '-createdAt' | 'durationMs' | '-durationMs' | 'error' | '-error' | 'id' | 'nextAttemptAt' | '-nextAttemptAt' | 'responseStatus' | '-responseStatus' | 'status' | '-status' | 'type' | '-type')[]
          /** false omits count from the response, which is faster */
          count?: boolean
        }
        header?: {
          /** the ETag of an earlier response */
          'If-None-Match'?: string
        }
        path: {
          /** id of one of the webhooks */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['WebhookDeliveryPage']; 'application/x-ndjson': string; 'text/csv': string }
        }
        /** the response has not changed since the version in If-None-Match */
        304: {
          headers: { ETag: components['headers']['ETag']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content?: never
        }
        /** validation_failed */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 403 forbidden, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/webhooks/{id}/deliveries/{deliveryId}/retry': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Send a delivery again
     * Queues the delivery again with the same body and webhook-id, and responds before the delivery is sent.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the webhooks */
          id: string
          /** id of one of the deliveries */
          deliveryId: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** Accepted */
        202: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['WebhookDelivery'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** conflict: the webhook is disabled */
        409: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/webhooks/{id}/secret': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Replace the secret of a webhook
     * The new secret is returned only in this response. For 24 hours, requests are also signed with the old secret. Requires the token of a session that was opened in the last 10 minutes, or email and password as HTTP Basic. If two-factor sign-in is on, also requires exactly one of code and recovery_code, unless the session was opened with two factors.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the webhooks */
          id: string
        }
        cookie?: never
      }
      requestBody?: {
        content: { 'application/json': components['schemas']['PostWebhooksByIdSecretBody']; 'application/x-www-form-urlencoded': components['schemas']['PostWebhooksByIdSecretBody']; 'multipart/form-data': components['schemas']['PostWebhooksByIdSecretBody'] }
      }
      responses: {
        /** Created */
        201: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['WebhookCreated'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin; reauthentication_required: the session was opened more than 10 minutes ago; second_factor_required: two-factor sign-in is on, and code and recovery_code are missing; suspended: an admin has suspended the account */
        403: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** too_many_requests: too many wrong passwords (the limits of POST /auth) or too many wrong codes */
        429: {
          headers: { RateLimit: components['headers']['RateLimit']; 'RateLimit-Policy': components['headers']['RateLimit-Policy']; 'Retry-After': components['headers']['Retry-After']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/webhooks/{id}/test': {
    parameters: { query?: never; header?: never; path?: never; cookie?: never }
    get?: never
    put?: never
    /**
     * Send a test event
     * Sends an event of the type webhook.test, even if the webhook is disabled, and returns the result. A failed attempt is not repeated.
     */
    post: {
      parameters: {
        query?: never
        header?: never
        path: {
          /** id of one of the webhooks */
          id: string
        }
        cookie?: never
      }
      requestBody?: never
      responses: {
        /** OK */
        200: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/json': components['schemas']['WebhookDelivery'] }
        }
        /** validation_failed, malformed_body */
        400: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** unauthorized */
        401: {
          headers: { 'WWW-Authenticate': components['headers']['WWW-Authenticate']; 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** forbidden: the caller is not an admin */
        403: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** not_found */
        404: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
        /** any other error: 400 malformed_body, 400 validation_failed, 401 unauthorized, 408 request_timeout, 413 payload_too_large, 415 unsupported_media_type, 500 internal, 503 unavailable, 429 too_many_requests, 403 forbidden, 403 email_not_verified, 403 two_factor_required */
        default: {
          headers: { 'X-Request-Id': components['headers']['X-Request-Id']; [name: string]: unknown }
          content: { 'application/problem+json': components['schemas']['Problem'] }
        }
      }
    }
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
}
export interface components {
  schemas: {
    APIKey: {
      createdAt: string
      expiresAt: string
      id: string
      /** time of the last use, to the minute; null: never used */
      lastUsedAt: string | null
      lastUsedIp: string | null
      name: string
      scopes: string[]
    }
    APIKeyCreated: {
      createdAt: string
      expiresAt: string
      id: string
      /** the key; returned only in this response */
      key: string
      /** time of the last use, to the minute; null: never used */
      lastUsedAt: string | null
      lastUsedIp: string | null
      name: string
      scopes: string[]
    }
    APIKeyList: {
      count: number
      /** newest first */
      rows: components['schemas']['APIKey'][]
    }
    Article: {
      content: string
      createdAt: string
      /** the referenced records, by the names in the expand parameter; null if the record does not exist or is not visible to the caller */
      expand?: Record<string, never>
      id: string
      title: string
      updatedAt: string
      userId: string
    }
    ArticlePage: {
      /** number of records in the whole list; with q or a filter, at most 10,000 */
      count?: number
      /** true if more than count records match */
      countCapped?: boolean
      /** the value of the after parameter of the next request; absent on the last page */
      next?: string
      /** the records, with the fields selected by the fields parameter */
      rows: components['schemas']['ArticleRow'][]
    }
    ArticleRow: {
      content?: string
      createdAt?: string
      /** the ETag of the record; only with etags=true */
      etag?: string
      /** the referenced records, by the names in the expand parameter; null if the record does not exist or is not visible to the caller */
      expand?: Record<string, never>
      id: string
      title?: string
      updatedAt?: string
      userId?: string
    }
    AuthResult: {
      /** time at which token expires */
      expiresAt: string
      /** refresh token for POST /auth/refresh; valid once */
      refreshToken: string
      /** user token; send it as Authorization: Bearer TOKEN, or as access_token */
      token: string
      user: components['schemas']['User']
    }
    Batch: {
      results: components['schemas']['BatchResult'][]
    }
    BatchInput: {
      operations: components['schemas']['BatchOperation'][]
    }
    BatchOperation: {
      /** the parameters of the operation */
      body?: { [key: string]: unknown }
      /** the value of the header If-Match */
      ifMatch?: string
      method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
      /** name with which later operations can refer to the response */
      name?: string
      /** path of a resource, relative to the base address of the API */
      path: string
    }
    BatchResult: {
      body?: { [key: string]: unknown }
      etag?: string
      location?: string
      status: number
    }
    Change: {
      /** ID of the user who made the change; null if the master key was used or there was no caller */
      by: string | null
      createdAt: string
      /** names of the fields that the update set, or of what an admin removed from a user */
      fields: string[]
      id: string
      /** ID of the API key that was used, or null */
      key: string | null
      /** null if type is reset */
      recordId: string | null
      requestId: string
      resource: string
      /** reset: a migration or a bulk load may have changed any records of the resource */
      type: 'created' | 'updated' | 'deleted' | 'reset'
    }
    ChangeEvent: {
      /** the newest version of the record; only the id if the record was deleted */
      data: Record<string, never>
      event: 'created' | 'updated' | 'deleted'
      /** the position of the change; a value for the after parameter */
      id: string
    }
    ChangePage: {
      /** the value of the after parameter of the next request; absent on the last page */
      next?: string
      rows: components['schemas']['Change'][]
    }
    ChangesPage: {
      /** the position after the rows: the value of the after parameter of the next request */
      next: string
      /** true if the changes after the position are unknown; list the records again, and continue from next */
      resync?: boolean
      rows: components['schemas']['ChangeEvent'][]
    }
    DeleteOrganizationsByIdBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteUsersByIdApiKeysByKeyIdBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteUsersByIdBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteUsersByIdIdentitiesByProviderBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteUsersByIdPasskeysByPasskeyIdBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteUsersByIdSessionsBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteUsersByIdSessionsBySessionIdBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteUsersByIdTwoFactorBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteUsersMePasskeysByIdBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteUsersMeTwoFactorBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    DeleteWebhooksByIdBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    EmailCodeAccepted: {
      /** the code in the email is valid with this challenge only */
      challenge: string
    }
    EmailVerification: {
      /** email address of the user after the link is confirmed */
      email: string
      expiresAt: string
      /** verify: the link verifies email; change: the link changes the address to email; undo: the link restores the former address email */
      purpose: 'verify' | 'change' | 'undo'
      user: components['schemas']['UserPublic']
    }
    EmailVerificationAccepted: Record<string, never>
    ErrorCode: 'validation_failed' | 'malformed_body' | 'unauthorized' | 'second_factor_required' | 'forbidden' | 'insufficient_scope' | 'not_found' | 'request_timeout' | 'method_not_allowed' | 'conflict' | 'precondition_failed' | 'idempotency_mismatch' | 'too_many_requests' | 'payload_too_large' | 'unsupported_media_type' | 'internal' | 'not_supported' | 'unavailable' | 'reauthentication_required' | 'range_not_satisfiable' | 'quota_exceeded' | 'email_not_verified' | 'suspended' | 'two_factor_required'
    ErrorField: {
      /** stable code for programs */
      code: components['schemas']['FieldCode']
      /** the limit or the allowed values */
      expected?: unknown
      in: 'body' | 'query' | 'path' | 'header'
      /** the reason, as a sentence */
      message: string
      /** name of the parameter */
      param: string
    }
    FieldCode: 'required' | 'type' | 'format' | 'min' | 'max' | 'min_length' | 'max_length' | 'max_items' | 'one_of' | 'unknown' | 'unknown_reference' | 'conflict' | 'too_common' | 'wrong' | 'wildcard' | 'read_only' | 'not_allowed'
    Identity: {
      /** time at which the account was linked */
      createdAt: string
      provider: string
    }
    IdentityList: {
      count: number
      rows: components['schemas']['Identity'][]
    }
    Job: {
      /** beginning of the error of the last failed run, as in the log; "": there was none */
      error: string
      /** end of the last failed run; null: there was none */
      failedAt: string | null
      /** time from the start of a run to the start of the next run */
      intervalSeconds: number
      name: string
      /** time at which the next run can start; during a run, the time at which the run is repeated if its instance was killed */
      nextAt: string
      /** an instance is running the job */
      running: boolean
      /** start of the last run; null: there was none */
      startedAt: string | null
      /** end of the last successful run; null: there was none */
      succeededAt: string | null
    }
    JobList: {
      /** by name */
      rows: components['schemas']['Job'][]
    }
    MCPMessage: {
      /** a string or an integer; absent in a notification */
      id?: string
      jsonrpc: '2.0'
      method: string
      params?: { [key: string]: unknown }
    }
    MCPReply: {
      /** error of the protocol; the error of a tool is in result */
      error?: { [key: string]: unknown }
      id: string
      jsonrpc: string
      result?: { [key: string]: unknown }
    }
    Organization: {
      createdAt: string
      id: string
      name: string
      /** of the caller; null for admins of the service who are no members */
      role: 'owner' | 'admin' | 'member' | null
      updatedAt: string
    }
    OrganizationInvitation: {
      createdAt: string
      email: string
      expiresAt: string
      id: string
      role: 'owner' | 'admin' | 'member'
    }
    OrganizationInvitationOpen: {
      expiresAt: string
      /** the name */
      organization: string
      role: 'owner' | 'admin' | 'member'
    }
    OrganizationInvitations: {
      count: number
      rows: components['schemas']['OrganizationInvitation'][]
    }
    OrganizationInvited: Record<string, never>
    OrganizationMember: {
      /** when the user became a member */
      createdAt: string
      name: string
      picture: string
      role: 'owner' | 'admin' | 'member'
      userId: string
    }
    OrganizationMembers: {
      count: number
      rows: components['schemas']['OrganizationMember'][]
    }
    OrganizationPage: {
      /** number of records in the whole list; with q or a filter, at most 10,000 */
      count?: number
      /** true if more than count records match */
      countCapped?: boolean
      /** the value of the after parameter of the next request; absent on the last page */
      next?: string
      /** the records, with the fields selected by the fields parameter */
      rows: components['schemas']['OrganizationRow'][]
    }
    OrganizationRow: {
      createdAt?: string
      /** the ETag of the record; only with etags=true */
      etag?: string
      id: string
      name?: string
      /** of the caller; null for admins of the service who are no members */
      role?: 'owner' | 'admin' | 'member' | null
      updatedAt?: string
    }
    Passkey: {
      /** true if the passkey can be copied to other devices of the user */
      backupEligible: boolean
      /** true if the passkey has been backed up */
      backupState: boolean
      createdAt: string
      /** ID that the authenticator chose */
      credentialId: string
      id: string
      /** time of the last sign-in; null: never used */
      lastUsedAt: string | null
      name: string
      transports: string[]
    }
    PasskeyList: {
      count: number
      rows: components['schemas']['Passkey'][]
    }
    PasskeyRegistrationOptions: {
      /** for POST /users/me/passkeys; valid for 5 minutes and one request */
      challenge: string
      /** value of the type PublicKeyCredentialCreationOptionsJSON (Web Authentication) */
      publicKey: Record<string, never>
    }
    PasskeySignInOptions: {
      /** for POST /auth/passkey; valid for 5 minutes and one request */
      challenge: string
      /** value of the type PublicKeyCredentialRequestOptionsJSON (Web Authentication) */
      publicKey: Record<string, never>
    }
    PasswordReset: {
      expiresAt: string
      token: string
      user: components['schemas']['UserPublic']
    }
    PasswordResetAccepted: Record<string, never>
    PatchArticlesByIdBody: {
      content?: string | null
      title?: string
    }
    PatchOrganizationsByIdBody: {
      name?: string
    }
    PatchOrganizationsByIdMembersByUserIdBody: {
      role?: 'owner' | 'admin' | 'member'
    }
    PatchPoliciesByIdBody: {
      name?: string
      namespace?: string
      selector?: {
        matchLabels: { [key: string]: string }
      } | null
    }
    PatchUsersByIdBody: {
      /** only admins can change the address */
      email?: string
      name?: string | null
      picture?: string | null
      /** only admins can change the role */
      role?: 'user' | 'admin'
      /** a suspended user has no sessions, and cannot sign in; only admins can change this field */
      suspended?: boolean | null
    }
    PatchUsersMePasskeysByIdBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string | null
      name?: string
      /** recovery code, instead of code */
      recovery_code?: string | null
    }
    PatchWebhooksByIdBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string | null
      /** note for admins */
      description?: string | null
      /** events that happen while a webhook is disabled are never sent */
      enabled?: boolean | null
      /** RECORD.created, RECORD.updated, RECORD.deleted, RECORD.* (all three), or * (all events of all resources) */
      events?: string[]
      /** recovery code, instead of code */
      recovery_code?: string | null
      /** address that receives the events; must use https, except for addresses in WEBHOOK_NETWORKS */
      url?: string
    }
    Policy: {
      createdAt: string
      id: string
      name: string
      namespace: string
      /** absent if the policy applies to every workload of the namespace */
      selector?: components['schemas']['WorkloadSelector']
      updatedAt: string
    }
    PolicyEvaluation: {
      /** number of all policies that apply */
      count?: number
      /** present only if explain is true: the policies of this page, and up to 100 policies in the same range that do not apply, in the same order */
      explain?: components['schemas']['PolicyExplanation'][]
      /** the value of the after parameter of the next request; absent on the last page */
      next?: string
      /** the policies that apply, oldest first, then by name */
      rows: components['schemas']['Policy'][]
    }
    PolicyExplanation: {
      applies: boolean
      /** result for each label of the selector: ok, missing or different */
      labels: { [key: string]: string }
      policy: components['schemas']['PolicyReference']
    }
    PolicyPage: {
      /** number of records in the whole list; with q or a filter, at most 10,000 */
      count?: number
      /** true if more than count records match */
      countCapped?: boolean
      /** the value of the after parameter of the next request; absent on the last page */
      next?: string
      /** the records, with the fields selected by the fields parameter */
      rows: components['schemas']['PolicyRow'][]
    }
    PolicyReference: {
      id: string
      name: string
      namespace: string
    }
    PolicyRow: {
      createdAt?: string
      /** the ETag of the record; only with etags=true */
      etag?: string
      id: string
      name?: string
      namespace?: string
      /** absent if the policy applies to every workload of the namespace */
      selector?: components['schemas']['WorkloadSelector']
      updatedAt?: string
    }
    PostArticlesBody: {
      content?: string
      title: string
      /** the owner: who creates the record, unless an admin chooses another user */
      userId?: string
    }
    PostAuthBody: {
      /** The value of the setting MASTER_KEY, which in development is in .env. Send it only from your own servers, as Authorization: Bearer KEY, or as access_token in the body or query. */
      access_token?: string
    }
    PostAuthByProviderBody: {
      /** access token of the provider (Facebook, GitHub, Google) */
      access_token?: string
      /** authorization code of the provider; requires redirect_uri */
      code?: string
      /** required if the authorization request used PKCE */
      code_verifier?: string
      /** ID token of the provider (OpenID providers) */
      id_token?: string
      /** name of a new user, if the token has no name; Apple sends the name only to the page, at the first sign-in */
      name?: string
      /** nonce of the authorization request, with id_token or code; the ID token must have it */
      nonce?: string
      /** redirect_uri of the authorization request */
      redirect_uri?: string
    }
    PostAuthEmailCodeBody: {
      email: string
    }
    PostAuthPasskeyBody: {
      /** challenge from the options */
      challenge: string
      credential: { [key: string]: unknown }
    }
    PostAuthRefreshBody: {
      refresh_token: string
    }
    PostAuthSecondFactorBody: {
      /** challenge from the error second_factor_required of the sign-in */
      challenge: string
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    PostOrganizationsBody: {
      name: string
    }
    PostOrganizationsByIdInvitationsBody: {
      email: string
      /** URL of the page, in which {token} is replaced by the token; required unless exactly one page in INVITATION_LINK_ORIGINS has a path */
      link?: string
      role: 'owner' | 'admin' | 'member'
    }
    PostPasswordResetsBody: {
      email: string
      /** URL of the page, in which {token} is replaced by the token; required unless exactly one page in RESET_LINK_ORIGINS has a path */
      link?: string
    }
    PostPoliciesBody: {
      name: string
      namespace: string
      selector?: components['schemas']['WorkloadSelector']
    }
    PostPoliciesEvaluateBody: {
      /** the value of next in the previous page, for the same proxy */
      after?: string
      /** false omits count from the response */
      count?: boolean
      /** whether the response has explain: why policies apply or not */
      explain?: boolean
      handshake?: { [key: string]: unknown }
      instance?: { [key: string]: unknown }
      /** maximum number of policies per page */
      limit?: number
      metadata?: { [key: string]: unknown }
      namespace: string
    }
    PostUsersBody: {
      email: string
      name?: string
      password: string
      picture?: string
      role?: 'user' | 'admin'
    }
    PostUsersMeApiKeysBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** time at which the key expires; at most a year ahead; the default is in 90 days */
      expiresAt?: string | null
      name: string
      /** recovery code, instead of code */
      recovery_code?: string
      /** RESOURCE:read, RESOURCE:write, *:read or *:write; admins can also use admin */
      scopes: string[]
    }
    PostUsersMeEmailVerificationBody: {
      /** URL of the page, in which {token} is replaced by the token; required unless exactly one page in VERIFY_LINK_ORIGINS has a path */
      link?: string
    }
    PostUsersMePasskeysBody: {
      /** challenge from the options */
      challenge: string
      credential: { [key: string]: unknown }
      name?: string
    }
    PostUsersMePasskeysOptionsBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    PostUsersMeTwoFactorBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    PostWebhooksBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** note for admins */
      description?: string
      /** events that happen while a webhook is disabled are never sent */
      enabled?: boolean
      /** RECORD.created, RECORD.updated, RECORD.deleted, RECORD.* (all three), or * (all events of all resources) */
      events: string[]
      /** recovery code, instead of code */
      recovery_code?: string
      /** address that receives the events; must use https, except for addresses in WEBHOOK_NETWORKS */
      url: string
    }
    PostWebhooksByIdSecretBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    Problem: {
      /** only with second_factor_required at sign-in; required to send the second factor */
      challenge?: string
      /** stable code for programs */
      code: components['schemas']['ErrorCode']
      detail: string
      /** the invalid parameters */
      errors?: components['schemas']['ErrorField'][]
      /** index of the failed operation in the batch */
      operation?: number
      /** the ID of the request, as in the header X-Request-Id and in the log */
      requestId: string
      status: number
      title: string
      type: string
    }
    Provider: {
      /** address of the sign-in page of the provider; can have a query string */
      authorizationUrl: string
      clientId: string
      /** value of provider in POST /auth/{provider} */
      id: string
      name: string
      /** true if the provider supports code_challenge with S256 */
      pkce: boolean
      scopes: string[]
      type: 'oidc' | 'oauth2'
    }
    ProviderList: {
      count: number
      rows: components['schemas']['Provider'][]
    }
    PutArticlesByIdBody: {
      content?: string | null
      title?: string
    }
    PutAuthEmailCodeBody: {
      /** challenge from the response to POST /auth/email-code */
      challenge: string
      /** code in the email; spaces are ignored */
      code: string
    }
    PutPasswordResetsByTokenBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      password: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    PutPoliciesByIdBody: {
      name?: string
      namespace?: string
      selector?: {
        matchLabels: { [key: string]: string }
      } | null
    }
    PutUsersByIdBody: {
      /** only admins can change the address */
      email?: string
      name?: string | null
      picture?: string | null
      /** only admins can change the role */
      role?: 'user' | 'admin'
      /** a suspended user has no sessions, and cannot sign in; only admins can change this field */
      suspended?: boolean | null
    }
    PutUsersByIdPasswordBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      password: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    PutUsersByIdPictureBody: {
      /** the image: at most 5000000 bytes */
      picture: string
    }
    PutUsersMeEmailBody: {
      /** code of the authenticator app; spaces are ignored */
      code?: string
      email: string
      /** URL of the page, in which {token} is replaced by the token; required unless exactly one page in VERIFY_LINK_ORIGINS has a path */
      link?: string
      /** recovery code, instead of code */
      recovery_code?: string
    }
    PutUsersMeTwoFactorBody: {
      /** code of the authenticator app; spaces are ignored */
      code: string
    }
    QueuedEmail: {
      /** number of attempts so far; a retry sets it to 1 */
      attempts: number
      /** time at which the email was accepted */
      createdAt: string
      /** error of the last attempt; "" before the first attempt has ended */
      error: string
      id: string
      kind: string
      /** time of the next attempt; null: there is no further attempt */
      nextAttemptAt: string | null
      /** failed: there are no further attempts, and the email is deleted after a day */
      status: 'pending' | 'failed'
      /** ID of the user that the email concerns; null if the email was requested for an address, whose user is looked up later */
      userId: string | null
    }
    QueuedEmailPage: {
      /** number of records in the whole list; with q or a filter, at most 10,000 */
      count?: number
      /** true if more than count records match */
      countCapped?: boolean
      /** the value of the after parameter of the next request; absent on the last page */
      next?: string
      /** the records, with the fields selected by the fields parameter */
      rows: components['schemas']['QueuedEmailRow'][]
    }
    QueuedEmailRow: {
      /** number of attempts so far; a retry sets it to 1 */
      attempts?: number
      /** time at which the email was accepted */
      createdAt?: string
      /** error of the last attempt; "" before the first attempt has ended */
      error?: string
      id: string
      kind?: string
      /** time of the next attempt; null: there is no further attempt */
      nextAttemptAt?: string | null
      /** failed: there are no further attempts, and the email is deleted after a day */
      status?: 'pending' | 'failed'
      /** ID of the user that the email concerns; null if the email was requested for an address, whose user is looked up later */
      userId?: string | null
    }
    SessionPage: {
      /** number of records in the whole list; with q or a filter, at most 10,000 */
      count?: number
      /** true if more than count records match */
      countCapped?: boolean
      /** the value of the after parameter of the next request; absent on the last page */
      next?: string
      /** the records, with the fields selected by the fields parameter */
      rows: components['schemas']['SessionRow'][]
    }
    SessionRow: {
      /** the methods of the sign-in (RFC 8176): pwd (password), otp (one-time code or recovery code), hwk (passkey), fed (provider), mfa (two factors); empty for sessions that an earlier version opened */
      amr?: string[]
      createdAt?: string
      /** true for the session of this request */
      current?: boolean
      id: string
      ip?: string
      /** time of the sign-in or the last refresh */
      lastUsedAt?: string
      userAgent?: string
    }
    TwoFactor: {
      /** true if sign-in requires a code */
      enabled: boolean
      recoveryCodesLeft: number
    }
    TwoFactorEnrolment: {
      /** link that opens an authenticator app on the same device */
      otpauthUrl: string
      /** QR code of otpauthUrl, as a data URL of an SVG image */
      qr: string
      secret: string
    }
    TwoFactorRecoveryCodes: {
      /** each code can be used once */
      recoveryCodes: string[]
    }
    User: {
      createdAt: string
      email: string
      /** true if the user has proved that the email address is theirs */
      emailVerified: boolean
      /** false if the user has no password, and signs in another way, such as with a provider */
      hasPassword: boolean
      id: string
      name: string
      picture: string
      role: 'user' | 'admin'
      /** true if an admin has suspended the user, who then cannot sign in */
      suspended: boolean
    }
    UserPage: {
      /** number of records in the whole list; with q or a filter, at most 10,000 */
      count?: number
      /** true if more than count records match */
      countCapped?: boolean
      /** the value of the after parameter of the next request; absent on the last page */
      next?: string
      /** the records, with the fields selected by the fields parameter */
      rows: components['schemas']['UserRow'][]
    }
    UserPublic: {
      id: string
      name: string
      picture: string
    }
    UserRow: {
      createdAt?: string
      email?: string
      /** true if the user has proved that the email address is theirs */
      emailVerified?: boolean
      /** the ETag of the record; only with etags=true */
      etag?: string
      /** false if the user has no password, and signs in another way, such as with a provider */
      hasPassword?: boolean
      id: string
      name?: string
      picture?: string
      role?: 'user' | 'admin'
      /** true if an admin has suspended the user, who then cannot sign in */
      suspended?: boolean
    }
    UserSeen: {
      createdAt?: string
      email?: string
      emailVerified?: boolean
      hasPassword?: boolean
      id: string
      name: string
      picture: string
      role?: 'user' | 'admin'
      suspended?: boolean
    }
    Webhook: {
      createdAt: string
      /** note for admins */
      description: string
      /** why the service disabled the webhook; "": it did not */
      disabledReason: string
      /** events that happen while a webhook is disabled are never sent */
      enabled: boolean
      /** RECORD.created, RECORD.updated, RECORD.deleted, RECORD.* (all three), or * (all events of all resources) */
      events: string[]
      id: string
      /** address that receives the events; must use https, except for addresses in WEBHOOK_NETWORKS */
      url: string
      /** the admin who created the webhook, or last changed url, events or enabled; null: unknown */
      userId: string | null
    }
    WebhookCreated: {
      createdAt: string
      /** note for admins */
      description: string
      /** why the service disabled the webhook; "": it did not */
      disabledReason: string
      /** events that happen while a webhook is disabled are never sent */
      enabled: boolean
      /** RECORD.created, RECORD.updated, RECORD.deleted, RECORD.* (all three), or * (all events of all resources) */
      events: string[]
      id: string
      /** the secret; returned only in this response */
      secret: string
      /** address that receives the events; must use https, except for addresses in WEBHOOK_NETWORKS */
      url: string
      /** the admin who created the webhook, or last changed url, events or enabled; null: unknown */
      userId: string | null
    }
    WebhookDelivery: {
      /** number of attempts so far */
      attempts: number
      createdAt: string
      /** duration of the last attempt in milliseconds */
      durationMs: number | null
      /** error of the last attempt; "" if the attempt succeeded */
      error: string
      /** ID of the delivery; also in the header webhook-id */
      id: string
      /** time of the next attempt; null: there is no further attempt */
      nextAttemptAt: string | null
      /** status of the response to the last attempt; null: there was no response */
      responseStatus: number | null
      /** failed: there are no further attempts */
      status: 'pending' | 'delivered' | 'failed'
      type: string
    }
    WebhookDeliveryPage: {
      /** number of records in the whole list; with q or a filter, at most 10,000 */
      count?: number
      /** true if more than count records match */
      countCapped?: boolean
      /** the value of the after parameter of the next request; absent on the last page */
      next?: string
      /** the records, with the fields selected by the fields parameter */
      rows: components['schemas']['WebhookDeliveryRow'][]
    }
    WebhookDeliveryRow: {
      /** number of attempts so far */
      attempts?: number
      createdAt?: string
      /** duration of the last attempt in milliseconds */
      durationMs?: number | null
      /** error of the last attempt; "" if the attempt succeeded */
      error?: string
      /** ID of the delivery; also in the header webhook-id */
      id: string
      /** time of the next attempt; null: there is no further attempt */
      nextAttemptAt?: string | null
      /** status of the response to the last attempt; null: there was no response */
      responseStatus?: number | null
      /** failed: there are no further attempts */
      status?: 'pending' | 'delivered' | 'failed'
      type?: string
    }
    WebhookList: {
      count: number
      /** newest first */
      rows: components['schemas']['Webhook'][]
    }
    WorkloadSelector: {
      matchLabels: { [key: string]: string }
    }
  }
  responses: never
  parameters: never
  requestBodies: never
  headers: {
    /** the version of the representation */
    ETag: string
    /** true if the response repeats the first response to the same Idempotency-Key */
    'Idempotency-Replayed': 'true'
    /** the URL of the new record */
    Location: string
    /** the remaining quota of each applied limit (draft-ietf-httpapi-ratelimit-headers) */
    RateLimit: string
    /** the applied limits (draft-ietf-httpapi-ratelimit-headers) */
    'RateLimit-Policy': string
    /** seconds to wait before a retry */
    'Retry-After': number
    /** the accepted authentication schemes (RFC 9110) */
    'WWW-Authenticate': string
    /** the ID of the request, from the client or generated; also in the log */
    'X-Request-Id': string
  }
  pathItems: never
}
