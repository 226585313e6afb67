//! What is no secret in public text: source code, schemas, translations, manuals, lock files. Each row once was a false alarm;
//! beside each kind stands what must go all the same.

use crate::text::{builtin, scrubbed};

fn assert_stays(texts: &[&str]) {
    for text in texts {
        assert_eq!(scrubbed(builtin(), text), *text);
    }
}

/// `{}`, and nothing else, goes.
fn assert_goes(templates: &[&str], secret: &str) {
    for template in templates {
        let text = template.replace("{}", secret);
        assert_eq!(scrubbed(builtin(), &text), template.replace("{}", "[REDACTED:secret]"), "{text}");
    }
}

#[test]
fn code_that_handles_secrets() {
    assert_stays(&[
        "pub const ICW_MAX_PASSWORD: u32 = 256u32;",
        "pub const E_CANNOT_DECRYPT_PASSWORD: i32 = -2147212282i32;",
        "    authorization: `${issuer}/services/oauth2/authorize?display=page`,\n    token: `${issuer}/services/oauth2/token`,",
        "    kwargs[\"password\"] = settings_dict[\"PASSWORD\"]\n",
        "            'password': _get('redis_password'),\n",
        "            \"password\": values[\"snowflake_password\"].get_secret_value(),\n",
        "f(username=auth_info[0], password=auth_info[2]\n)",
        "load(cert[\"private_key\"], password=client_credential.get(\"passphrase\"))",
        "$parsed['password'] = rawurldecode(substr($str, $pos + 1));",
        "    const urlPassword = decodeURIComponentSafe$1(parsed.password);",
        "    \"htpasswd\": configuration.Parameters{\n",
        "  \"password\": bad_then_good_password,\n",
        "  \"password\": mismatched_passwords_then_matched,\n  \"username\": \"joe\",",
        "headers = {\"X-aws-ec2-metadata-token\": imdsv2_session_token}",
        "this.defaultMatch({\n  password: passwordReversed\n})",
        "sign(security_key=tmp_key1.name, other=1)",
        "@click.option(\"--password\", prompt=True, hide_input=True)",
        "string:{text:\"TextWidget\",password:\"PasswordWidget\",email:\"EmailWidget\"}",
        "cases:{\"@keywords\":{token:\"keyword.$0\"},\"@default\":\"identifier\"}",
        "repeatNodeCount:33,tokenData:\"$Fl(CSR!bOX%ZXY+gYZ-yZ[+g[]%Z]^.c^p%Zpq+gqr/mrs3cst\"",
        "s: input[type=\"password\"]:focus,input[type=\"email\"]:focus{border:0}",
        "o._auth = basic_auth_header(usr, pwd)",
        "if [ \"$WSREP_SST_OPT_PSWD\" = '(null)' ]; then",
        "aws_secret_access_key",
        "const ERRCODE_INVALID_PASSWORD = \"28P01\" // wrong",
        "host all all \"trust\", \"reject\", \"md5\", \"password\", \"scram-sha-256\",",
        "packet.writeNullTerminatedString('mysql_native_password', 'latin1');",
        "val usernameAndPassword = \"$username:$password\"",
        "\"%n%nUsing generated security password: %s%n%nThis is for development\"",
        "e.ProgressType=e.ProgressToken=e.createMessageConnection=e.NullLogger=void 0",
        "e.ProgressToken=e.MessageReader=e.NotificationType9=e.NotificationType8=void 0",
        "[\"NAMESPACE\", \"KEYFRAMES\", \"LAYER\", \"SCOPE\", \"abs\", \"from\", \"trim\", \"x1\", \"value\", \"replace\", \"__name\", \"escape\", \"tokens\"]",
        "Required parameters: -server -name -password -database -project",
        "GET /chat HTTP/1.1\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        "local passphrase= password= scmVersion= message=",
        "// Check both: redis://:password@host has an empty user, password: redis://:password@host.",
        "CLIENT_ASSERTION_TYPE_JWT = \"urn:ietf:params:oauth:client-assertion-type:jwt-bearer\"",
        "Token: `urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2`,",
        "    Authorization = \"authorization\"\n    ContentMd5 = \"Content-Md5\"\n",
        "    secret = \"secret\"\n    example = \"a1b2c3d4\"\n",
        "the second column is called aws_secret_access_key",
        "            password = token\n            else:\n                auth = self._auth",
    ]);
    assert_goes(
        &[
            "kwargs[\"password\"] = \"{}\"\n",
            "['password']: \"{}\"",
            "'password' => {}, 'user' => 'bob'",
            "[\"--password\", \"{}\"]",
        ],
        concat!("hunt", "er2Zq9"),
    );
}

#[test]
fn schemas_and_manifests() {
    assert_stays(&[
        r#"{"dependencies": {"cookie": "^0.7.1", "pbkdf2-password": "1.2.1", "pg-connection-string": "~2.6.1-rc.1", "tokens": ">=1.2 <2"}}"#,
        r#"{"/api/v1/secrets": {"get": {"parameters": [{"in": "query", "name": "limit"}], "tags": ["core_v1"]}}}"#,
        r#"{"secrets": {"type": "array", "description": "List", "x-kubernetes-patch-strategy": "merge"}}"#,
        r#"{"GetFederationToken": [{"input": {"Name": "testFedUserSession", "DurationSeconds": 3600}, "title": "x"}]}"#,
        r#"{"hasMany": {"AccessKeys": {"request": {"operation": "ListAccessKeys"}, "resource": [{"target": "Id"}]}}}"#,
        r#"{"PersonalAccessTokens": [{"name": "create", "args": ["userId", "name", "scopes", "title"]}]}"#,
        r#"{"type": {"text": 1, "password": 1, "hidden": 1}}"#,
        "<SubjectFromWebIdentityToken>amzn1.account.AF6RHO7KZU5XRVQJGXK6HB56KR2A</SubjectFromWebIdentityToken>",
        r#"{"generateToken": "Zugriffstoken erzeugen", "listTokens": "all"}"#,
    ]);
    assert_goes(
        &[
            r#"{"secrets": {"db": "{}", "prod": {"cache": "{}"}}}"#,
            r#"{"access_token": ["{}", ["{}"]]}"#,
            r#"{"GetFederationToken": [{"input": {"Name": "a"}}], "password": "{}"}"#,
        ],
        concat!("hunt", "er2Zq9"),
    );
}

#[test]
fn labels_descriptions_and_the_name_again() {
    assert_stays(&[
        r#"{"login": "Login", "password": "Contraseña", "port": "Puerto"}"#,
        "$labels['password'] = 'Senha';",
        "password: \"パスワード\"",
        r#"{"apiToken": "API-Token", "cliToken": "CLI Jetonu"}"#,
        "s3_secret_access_key = 's3-secret-access-key'",
        "WEAK_PASSWORD: 'auth/weak-password',",
        r#"{"FsxAdminPassword": "<p>The ONTAP administrative password for the <code>fsxadmin</code> user.</p>"}"#,
        r#"{"ClientRequestToken": "<p>A string of up to 63 ASCII characters that ensures idempotent creation.</p>"}"#,
        r#"{"ClientToken": "<p>We recommend that you generate a <a href=\"https://example.org/w/Uuid\">UUID-type value</a> to ensure it.</p>"}"#,
        "String CONFIG_PASSWORD = \"log4j2.configurationPassword\";",
        r#"{"ImportToken": "The import token to send with a subsequent ImportKeyMaterial request."}"#,
        "Password: &lt;type your password&gt;",
        "'password': '<<CLIENT_SECRET_FROM_ASTRA_DB_TOKEN>>'",
        "\\fB\\-\\-password=\\fR\\fB\\fIpassword\\fR\\fR",
        "    ServicePassword: \"STRING_VALUE\",",
        "password=&quot;${password}&quot;",
        "(gpg --change-passphrase your-user-id).",
        "The '--inq-passwd' option may be used; '--passphrase ''' may be used; '--passwd USER-ID'",
        ".B  --change-passphrase \\fIuser_id\\fR\n.B  --passwd \\fIuser_id\\fR",
        "CLIError(\"--container-registry-password requires --container-registry-username.\")",
        "default login anonymous password user@domain",
        "SSLCertificateFile \"pkcs11:token=My%20Token%20Name;id=45\"",
        "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20110909/us-east-1/host/aws4_request",
        "CONNECTION_STRING = \"mysql+pymysql://root@34.212.137.91:4000/test\"",
        "http://example-username:[secure]@example.org/",
    ]);
    assert_goes(&[r#"{"apiToken": "{}"}"#, r#"{"FsxAdminPassword": "{}"}"#], concat!("hunt", "er2Zq9"));
    for passphrase in ["correct horse battery staple", "the cat sat on 4 mats", "anything at all"] {
        let text = format!("{{\"password\": \"{passphrase}\"}}");
        assert_eq!(scrubbed(builtin(), &text), "{\"password\": \"[REDACTED:secret]\"}", "{text}");
    }
}

#[test]
fn digests_hold_any_prefix() {
    let digest = format!("_W-NFMy_SROH68BKhQgh{}", "p_vAacP17dMKjkptpr6UKbk");
    assert_stays(&[
        &format!("transformers/models/mixtral/modular_mixtral.py,sha256={digest},29277"),
        &format!("transformers/models/mixtral/modular_mixtral.py,sha256={}", &digest[..40]),
        &format!("\"integrity\": \"sha256-{digest}=\""),
        &format!(
            "wasm: EKwBIAEpAKgDIRIgAUEBOgCoAyADIAEpALYDNwG2AS8BBEH7AEcNACAAQQZqIQADQAJAIAAgAksEf0F+{}",
            "BSADIAEpALADNwO4BSADIBI3A7AFIAFBARB3IAYgARC"
        ),
    ]);
    let token = format!("gh{}_{}", "p", "vAacP17dMKjkptpr6UKbkvAacP17dMKjkptp");
    for text in [format!("sha256={token}"), format!("path/to/{token}")] {
        assert_eq!(scrubbed(builtin(), &text), text.replace(&token, "[REDACTED:github-token]"));
    }
}
