// SPDX-License-Identifier: Apache-2.0
// What our tests need of Permit2: permitWitnessTransferFrom with unordered nonces, with the
// published ABI, domain and refusals. It has no constructor: tests put its code at the published
// address. Never use it for money.
pragma solidity 0.8.37;

interface IERC1271 {
    function isValidSignature(bytes32 digest, bytes calldata signature)
        external
        view
        returns (bytes4);
}

contract TestPermit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    error SignatureExpired(uint256 signatureDeadline);
    error InvalidAmount(uint256 maxAmount);
    error InvalidNonce();
    error InvalidSignatureLength();
    error InvalidSignature();
    error InvalidSigner();
    error InvalidContractSignature();

    event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask);

    mapping(address => mapping(uint256 => uint256)) public nonceBitmap;

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"),
                keccak256("Permit2"),
                block.chainid,
                address(this)
            )
        );
    }

    function invalidateUnorderedNonces(uint256 wordPos, uint256 mask) external {
        nonceBitmap[msg.sender][wordPos] |= mask;
        emit UnorderedNonceInvalidation(msg.sender, wordPos, mask);
    }

    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external {
        bytes32 digest = _digest(permit, witness, witnessTypeString);
        if (block.timestamp > permit.deadline) revert SignatureExpired(permit.deadline);
        if (transferDetails.requestedAmount > permit.permitted.amount) {
            revert InvalidAmount(permit.permitted.amount);
        }
        _useNonce(owner, permit.nonce);
        _check(owner, digest, signature);
        (bool ok, bytes memory answer) = permit.permitted.token.call(
            abi.encodeWithSignature(
                "transferFrom(address,address,uint256)",
                owner,
                transferDetails.to,
                transferDetails.requestedAmount
            )
        );
        require(ok && (answer.length == 0 || abi.decode(answer, (bool))), "TRANSFER_FROM_FAILED");
    }

    function _digest(
        PermitTransferFrom calldata permit,
        bytes32 witness,
        string calldata witnessTypeString
    ) private view returns (bytes32) {
        bytes32 typeHash = keccak256(
            abi.encodePacked(
                "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,"
                "uint256 nonce,uint256 deadline,",
                witnessTypeString
            )
        );
        bytes32 permitted = keccak256(
            abi.encode(
                keccak256("TokenPermissions(address token,uint256 amount)"),
                permit.permitted.token,
                permit.permitted.amount
            )
        );
        bytes32 data = keccak256(
            abi.encode(typeHash, permitted, msg.sender, permit.nonce, permit.deadline, witness)
        );
        return keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), data));
    }

    function _useNonce(address owner, uint256 nonce) private {
        uint256 bit = 1 << (nonce & 0xff);
        uint256 flipped = nonceBitmap[owner][nonce >> 8] ^= bit;
        if (flipped & bit == 0) revert InvalidNonce();
    }

    /// As the published one: no rule about s, and the form of EIP-2098 is taken.
    function _check(address owner, bytes32 digest, bytes calldata signature) private view {
        if (owner.code.length != 0) {
            bytes4 answer = IERC1271(owner).isValidSignature(digest, signature);
            if (answer != IERC1271.isValidSignature.selector) revert InvalidContractSignature();
            return;
        }
        bytes32 r;
        bytes32 s;
        uint8 v;
        if (signature.length == 65) {
            (r, s) = abi.decode(signature[:64], (bytes32, bytes32));
            v = uint8(signature[64]);
        } else if (signature.length == 64) {
            (r, s) = abi.decode(signature, (bytes32, bytes32));
            v = uint8(uint256(s) >> 255) + 27;
            s = bytes32((uint256(s) << 1) >> 1);
        } else {
            revert InvalidSignatureLength();
        }
        address signer = ecrecover(digest, v, r, s);
        if (signer == address(0)) revert InvalidSignature();
        if (signer != owner) revert InvalidSigner();
    }
}
