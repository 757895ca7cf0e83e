"""Refusals: what the caller asked for and cannot have. The docstring is the default message."""

import inspect


class DomainError(Exception):
    """The request cannot be honoured."""

    code = "BadRequest"
    target: str | None = None

    def __init__(self, message: str | None = None, *, target: str | None = None) -> None:
        super().__init__(message or inspect.cleandoc(self.__doc__ or ""))
        if target is not None:
            self.target = target


class InvalidParameterError(DomainError):
    """A value is outside what is allowed."""

    code = "InvalidParameter"


class EventNotFoundError(DomainError):
    """No scheduled event with that EventId is known here."""

    code = "EventNotFound"


class ScopeNotFoundError(DomainError):
    """There is no such scope."""

    code = "ScopeNotFound"


class ResourceNotFoundError(DomainError):
    """There is no such resource."""

    code = "ResourceNotFound"


class InstanceNotFoundError(DomainError):
    """The entity was not found in this Azure location."""

    code = "NotFound"


class OperationNotAllowedError(DomainError):
    """The operation is not allowed in the present state."""

    code = "OperationNotAllowed"


class ConflictError(DomainError):
    """The request failed due to conflict with a concurrent request."""

    code = "Conflict"


class PreconditionFailedError(DomainError):
    """The resource has changed since the given etag."""

    code = "PreconditionFailed"


class IllegalTransitionError(DomainError):
    """The event is past the point where that is possible."""

    code = "OperationNotAllowed"


class InvalidRequestContentError(DomainError):
    """The request content was invalid and could not be deserialized."""

    code = "InvalidRequestContent"


class LocationRequiredError(DomainError):
    """The location property is required for this definition."""

    code = "LocationRequired"


class PropertyChangeNotAllowedError(DomainError):
    """The property cannot be changed after the resource has been created."""

    code = "PropertyChangeNotAllowed"


class MissingApiVersionError(DomainError):
    """The api-version query parameter (?api-version=) is required for all requests."""

    code = "MissingApiVersionParameter"


class InvalidApiVersionError(DomainError):
    """The api-version is invalid."""

    code = "InvalidApiVersionParameter"


class ResourceGroupNotFoundError(DomainError):
    """The resource group could not be found."""

    code = "ResourceGroupNotFound"


class InvalidTemplateError(DomainError):
    """The deployment template is not valid."""

    code = "InvalidTemplate"


class InvalidTemplateDeploymentError(DomainError):
    """The template is valid, but cannot be deployed here."""

    code = "InvalidTemplateDeployment"


class ResourceGroupBeingDeletedError(DomainError):
    """The resource group is in deprovisioning state and cannot perform this operation."""

    code = "ResourceGroupBeingDeleted"


class InvalidResourceGroupError(DomainError):
    """The provided resource group name is not allowed."""

    code = "InvalidResourceGroup"


class InvalidResourceGroupLocationError(DomainError):
    """The resource group already exists in another location."""

    code = "InvalidResourceGroupLocation"


class LocationNotAvailableForResourceGroupError(DomainError):
    """The provided location is not available for resource groups."""

    code = "LocationNotAvailableForResourceGroup"


class NoRegisteredProviderFoundError(DomainError):
    """No registered resource provider was found for the location."""

    code = "NoRegisteredProviderFound"


class InvalidResourceNamespaceError(DomainError):
    """The resource namespace is invalid."""

    code = "InvalidResourceNamespace"


class InvalidResourceTypeError(DomainError):
    """The resource type could not be found."""

    code = "InvalidResourceType"


class InvalidResourceNameError(DomainError):
    """The resource name is invalid."""

    code = "InvalidResourceName"


class InvalidResourceLocationError(DomainError):
    """The resource already exists in another location."""

    code = "InvalidResourceLocation"


class ParentResourceNotFoundError(DomainError):
    """The parent of the nested resource was not found."""

    code = "ParentResourceNotFound"


class QuotaExceededError(DomainError):
    """So many exist already that another one is not allowed."""

    code = "ResourceQuotaExceeded"


class InvalidFilterError(DomainError):
    """The $filter is not understood."""

    code = "InvalidFilterInQueryString"
